// In the browser: the search, and the menu of narrow windows.
const { root } = document.currentScript.dataset
const [box, field, found] = ['search', 'find', 'found'].map((id) => document.getElementById(id))
const [status, list] = [found.querySelector('p'), found.querySelector('ol')]
const MOST = 12

box.hidden = false
if (matchMedia('(max-width: 52rem)').matches) document.getElementById('menu').open = false
else document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' })

let loading
/** Loads the index when somebody begins to search. */
function load() {
  loading ??= ['minisearch.js', 'search-index.js'].reduce(
    (before, name) =>
      before.then(
        () =>
          new Promise((resolve, reject) => {
            const script = document.createElement('script')
            Object.assign(script, { src: `${root}/${name}`, onload: resolve, onerror: reject })
            document.head.append(script)
          }),
      ),
    Promise.resolve(),
  )
  return loading
}

async function search() {
  const words = field.value.trim()
  await load()
  if (words !== field.value.trim()) return
  const results = words === '' ? [] : globalThis.conformSearch.search(words)
  found.hidden = words === ''
  status.textContent = results.length === 1 ? '1 page' : `${results.length} pages`
  list.replaceChildren(
    ...results.slice(0, MOST).map(({ about, id, title }) => {
      const [item, link, text] = ['li', 'a', 'span'].map((name) => document.createElement(name))
      link.href = `${root}/${id}`
      link.textContent = title
      text.textContent = about
      item.append(link, text)
      return item
    }),
  )
}

field.addEventListener('focus', load)
field.addEventListener('input', search)
box.addEventListener('keydown', (event) => {
  const links = [...list.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  if (event.key === 'Escape') {
    field.value = ''
    found.hidden = true
    field.focus()
  } else if (event.key === 'Enter' && at < 0) links[0]?.click()
  else if (event.key === 'ArrowDown') links[at + 1]?.focus()
  else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus()
  else return
  event.preventDefault()
})
box.addEventListener('focusout', ({ relatedTarget }) => {
  if (!box.contains(relatedTarget)) found.hidden = true
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return
  event.preventDefault()
  field.focus()
})
