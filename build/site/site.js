// In the browser: the search, and the menu of narrow windows.
const [box, field, found, menu] = ['search', 'find', 'found', 'menu'].map((id) =>
  document.getElementById(id),
)
const [status, list] = [found.querySelector('p'), found.querySelector('ol')]

box.hidden = false
menu.open = !matchMedia('(max-width: 52rem)').matches
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' })

const loadScript = (src) =>
  new Promise((resolve, reject) => {
    document.head.append(
      Object.assign(document.createElement('script'), { src, onload: resolve, onerror: reject }),
    )
  })

let loading
async function search() {
  // The index is loaded when somebody begins to search.
  await (loading ??= loadScript('minisearch.js').then(() => loadScript('search-index.js')))
  const results = field.value.trim() === '' ? [] : globalThis.conformSearch.search(field.value)
  found.hidden = field.value.trim() === ''
  status.textContent = results.length === 1 ? '1 page' : `${results.length} pages`
  const items = results.slice(0, 12).map(({ about, id, title }) => {
    const [item, link, text] = ['li', 'a', 'span'].map((name) => document.createElement(name))
    Object.assign(link, { href: id, textContent: title })
    text.textContent = about
    item.append(link, text)
    return item
  })
  list.replaceChildren(...items)
}

field.addEventListener('input', search)
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.target === field) list.querySelector('a')?.click()
  if (event.key === 'Escape') found.hidden = true
  if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return
  event.preventDefault()
  field.focus()
})
