// Filter, search, copy buttons and links into folded requirements. The page works without it.
const $ = (id) => document.getElementById(id)
const allRows = () => [...document.querySelectorAll('#list .r')]
const texts = new WeakMap()
const textOf = (row) => {
  if (!texts.has(row)) texts.set(row, row.firstChild.textContent.toLowerCase())
  return texts.get(row)
}

// Filters without a default tick.
const standard = [...document.querySelectorAll('#tools input[type=checkbox]')]
  .filter((box) => !box.defaultChecked)
  .map((box) => box.value)
  .join()

// The filter is part of the URL, so it can be kept, shared and reloaded.
function remember() {
  const off = [...document.querySelectorAll('#tools input[type=checkbox]:not(:checked)')].map(
    (box) => box.value,
  )
  const hide = off.join() === standard ? '' : off.join() || 'none'
  const asked = { q: $('find').value, hide, level: $('level').value }
  const query = new URLSearchParams(
    Object.entries(asked).filter(([, value]) => value !== ''),
  ).toString()
  try {
    history.replaceState(
      null,
      '',
      `${location.pathname}${query === '' ? '' : `?${query}`}${location.hash}`,
    )
  } catch {
    // Some browsers do not let a local file change its URL.
  }
}

function recall() {
  const asked = new URLSearchParams(location.search)
  $('find').value = asked.get('q') ?? ''
  $('level').value = asked.get('level') ?? ''
  const off = (asked.get('hide') ?? standard).split(',')
  for (const box of document.querySelectorAll('#tools input[type=checkbox]'))
    box.checked = !off.includes(box.value)
}

function filter() {
  const words = $('find').value.toLowerCase().split(/\s+/).filter(Boolean)
  const outcomes = new Set(
    [...document.querySelectorAll('#tools input:checked')].map((box) => box.value),
  )
  const level = $('level').value
  const rows = allRows()
  let shown = 0
  for (const row of rows) {
    const fits =
      outcomes.has(row.dataset.o) &&
      (level === '' || row.dataset.l === level) &&
      words.every((word) => textOf(row).includes(word))
    row.hidden = !fits
    if (fits) shown += 1
  }
  for (const section of document.querySelectorAll('#list > .op'))
    section.hidden = !section.querySelector('.r:not([hidden])')
  $('shown').textContent = shown === rows.length ? '' : `${shown} of ${rows.length} shown`
}

function filterAnew() {
  filter()
  remember()
}

function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.body.appendChild(document.createElement('textarea'))
  area.value = text
  area.select()
  document.execCommand('copy')
  area.remove()
  return Promise.resolve()
}

// Buttons are added on opening: thousands would delay the first paint.
function addCopyButtons(root) {
  for (const pre of root.querySelectorAll('pre.c:not([data-b])')) {
    if (pre.closest('details:not([open])')) continue
    pre.dataset.b = ''
    const text = pre.textContent
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await copyText(text).then(
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
recall()
$('find').addEventListener('input', filterAnew)
$('tools').addEventListener('change', filterAnew)
$('fold').addEventListener('click', () => {
  const open = $('fold').textContent === 'Open all'
  for (const row of allRows()) row.open = open && !row.hidden
  $('fold').textContent = open ? 'Close all' : 'Open all'
})
document.addEventListener(
  'toggle',
  (event) => event.target.open && addCopyButtons(event.target),
  true,
)
addEventListener('hashchange', openTarget)
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a')
  const href = link?.getAttribute('href') ?? ''
  if (href.startsWith('#')) setTimeout(openTarget)
  if (!href.startsWith('?q=')) return
  // Shows all requirements of a section; open ones stay open.
  event.preventDefault()
  $('find').value = new URLSearchParams(href.slice(0, href.indexOf('#'))).get('q')
  filterAnew()
  $('requirements').scrollIntoView()
})
addCopyButtons(document)
filter()
openTarget()
