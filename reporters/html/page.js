// Filter, search, copy buttons and links to folded requirements. The page works without it.
const $ = (id) => document.getElementById(id)
const texts = new WeakMap()
const textOf = (row) => {
  if (!texts.has(row)) texts.set(row, row.firstChild.textContent.toLowerCase())
  return texts.get(row)
}

function filter() {
  const words = $('find').value.toLowerCase().split(/\s+/).filter(Boolean)
  const outcomes = new Set(
    [...document.querySelectorAll('#tools input:checked')].map((box) => box.value),
  )
  const rows = document.querySelectorAll('#list .r')
  let shown = 0
  for (const row of rows) {
    const fits = outcomes.has(row.dataset.o) && words.every((word) => textOf(row).includes(word))
    row.hidden = !fits
    if (fits) shown += 1
  }
  for (const section of document.querySelectorAll('#list > .op'))
    section.hidden = !section.querySelector('.r:not([hidden])')
  $('shown').textContent = shown === rows.length ? '' : `${shown} of ${rows.length} shown`
}

// Buttons are added on opening: thousands would delay the first paint.
function addCopyButtons(root) {
  // Browsers have a clipboard only in a local file, on localhost, and over https.
  if (!navigator.clipboard) return
  for (const pre of root.querySelectorAll('pre.c:not([data-b])')) {
    if (pre.closest('details:not([open])')) continue
    pre.dataset.b = ''
    const text = pre.textContent
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text).then(
        () => (button.textContent = 'Copied'),
        () => (button.textContent = 'Not allowed'),
      )
      setTimeout(() => (button.textContent = 'Copy'), 2000)
    })
    pre.before(button)
  }
}

function openTarget() {
  const target = $(decodeURIComponent(location.hash.slice(1)))
  if (target?.tagName !== 'DETAILS') return
  target.hidden = false
  target.parentElement.hidden = false
  target.open = true
  target.scrollIntoView()
}

$('tools').hidden = false
$('find').addEventListener('input', filter)
$('tools').addEventListener('change', filter)
document.addEventListener(
  'toggle',
  (event) => event.target.open && addCopyButtons(event.target),
  true,
)
addEventListener('hashchange', openTarget)
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a')
  if (link?.getAttribute('href')?.startsWith('#')) setTimeout(openTarget)
})
addCopyButtons(document)
filter()
openTarget()
