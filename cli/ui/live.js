// Puts what the events bring in the place of what the page shows, and sends what the buttons say. Stands behind page.js.
const cells = new Map()
for (const cell of document.querySelectorAll('.matrix .cell'))
  cells.set(decodeURIComponent(cell.hash.slice(1)), cell)

const elementOf = (key) => (key.startsWith('cell:') ? cells.get(key.slice(5)) : $(key))
const focusable = (element) => [
  element,
  ...element.querySelectorAll('a, button, summary, textarea'),
]
// Then a row that is open is shown beside the list, and only one is.
const wide = matchMedia('(min-width: 75rem)')

/** Replaces an element; focus stays, and what was opened or closed by hand stays so. */
function replace(key, markup) {
  const old = elementOf(key)
  if (!old) return
  const template = document.createElement('template')
  template.innerHTML = markup
  const fresh = template.content.firstElementChild
  if (fresh.classList.contains('r')) {
    const isNewlyFailed = fresh.dataset.o === 'failed' && old.dataset.o !== 'failed'
    fresh.open = old.open || (!wide.matches && isNewlyFailed)
  }
  const [written, offered] = [old, fresh].map((element) => element.querySelector('textarea'))
  // What was filled in stays, until something else is to be filled in.
  if (written && written.defaultValue === offered?.defaultValue) offered.value = written.value
  const at = focusable(old).indexOf(document.activeElement)
  old.replaceWith(fresh)
  if (key.startsWith('cell:')) cells.set(key.slice(5), fresh)
  if (at >= 0) (focusable(fresh)[at] ?? fresh).focus({ preventScroll: true })
  if (fresh.open && fresh.classList.contains('r')) void showSent(fresh)
}

/** Fetches what was sent for a requirement when its row is opened: of all of them it would be megabytes. */
async function showSent(row) {
  const place = row.querySelector('.sent')
  if (!place) return
  const answer = await fetch(`sent?id=${encodeURIComponent(place.dataset.sent)}`).catch(
    () => undefined,
  )
  if (!answer?.ok) return
  place.innerHTML = await answer.text()
  addCopyButtons(place)
}

function closeOthers(row) {
  if (!wide.matches) return
  for (const other of document.querySelectorAll('#list .r[open]'))
    if (other !== row) other.open = false
}

let state = { isRunning: false, failed: 0 }

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text
}

const colors = { good: '#1c6b40', warning: '#b07d00', bad: '#a8261c', running: '#575f68' }

function showTab({ title, tone }) {
  document.title = title
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="${colors[tone]}"/></svg>`
  $('icon').href = `data:image/svg+xml,${encodeURIComponent(svg)}`
}

function show(next) {
  const hasEnded = state.isRunning && !next.isRunning
  state = next
  const { failed, isRunning, progress, announcement, tab, text, untested = 0 } = next
  setText($('now'), text)
  setText($('announcement'), announcement)
  setText($('failed-count'), failed > 0 ? String(failed) : '')
  setText($('untested-count'), String(untested))
  document.querySelector('[data-do=untested]').hidden = untested === 0
  $('progress').hidden = !isRunning
  if (progress) {
    $('progress').max = progress.of
    $('progress').value = progress.judged
  } else $('progress').removeAttribute('value')
  document.body.classList.toggle('running', isRunning)
  if (tab) showTab(tab)
  markButtons()
  if (!hasEnded) return
  // Whoever looks at a failure has it before him; nobody who looks at another one loses that.
  for (const row of document.querySelectorAll('#list .r[open]')) void showSent(row)
  const first = document.querySelector('#list .r[data-o=failed]:not([hidden])')
  if (wide.matches && first && !document.querySelector('#list .r[open]')) first.open = true
}

// Not `disabled`: a button that has the focus keeps it.
function markButtons() {
  const { failed, isGone, isRunning } = state
  for (const button of document.querySelectorAll(
    '[data-do], [data-run], [data-add], [data-shown]',
  )) {
    const isStop = button.dataset.do === 'stop'
    const isOff = isStop
      ? !isRunning
      : isGone || isRunning || (button.dataset.do === 'failed' && failed === 0)
    button.setAttribute('aria-disabled', String(isOff))
  }
}

/** Tells what is wrong with a command; undefined if it is done. */
async function send(command) {
  const answer = await fetch('run', { method: 'POST', body: JSON.stringify(command) }).catch(
    () => undefined,
  )
  if (answer?.ok) return undefined
  return answer ? answer.text() : gone
}

async function run(what) {
  const problem = await send({ run: what })
  if (problem === undefined) return
  setText($('now'), problem)
  setText($('announcement'), problem)
}

async function add(part) {
  setText($('added'), (await send({ add: part })) ?? 'Added: everything is judged again.')
}

const gone = 'conform does not answer any more: this page shows what it said last.'
const shownIds = () => visibleRows().map((row) => row.id)
const visibleRows = () => allRows().filter((row) => !row.hidden)

/** Does what a button says. */
function press(button) {
  if (!button || button.getAttribute('aria-disabled') === 'true') return
  const { add: part, do: what, run: id, shown } = button.dataset
  if (part !== undefined) void add($(part).value)
  else void run(shown === undefined ? (what ?? id) : shownIds())
}

document.addEventListener('click', (event) =>
  press(event.target.closest?.('[data-do], [data-run], [data-add], [data-shown]')),
)
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (!target.open || !target.classList.contains('r')) return
    closeOthers(target)
    if (wide.matches) nameInAddress(target)
    void showSent(target)
  },
  true,
)
document.addEventListener('filtered', () => {
  const [shown, all] = [visibleRows().length, allRows().length]
  const button = document.querySelector('[data-shown]')
  button.hidden = shown === 0 || shown === all
  setText($('run-count'), String(shown))
})

/** The row that the keys are about: the one with the focus, or the one that is open beside the list. */
function currentRow() {
  return (
    document.activeElement?.closest('.r') ??
    (wide.matches ? document.querySelector('#list .r[open]') : null)
  )
}

/** The address names the requirement that is shown: whoever loads it again, or is sent it, sees the same. */
function nameInAddress({ id }) {
  history.replaceState(null, '', `${location.pathname}${location.search}#${encodeURIComponent(id)}`)
}

function step(by) {
  const rows = visibleRows()
  const at = rows.indexOf(currentRow())
  const next = rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]
  if (!next) return
  if (wide.matches) next.open = true
  nameInAddress(next)
  next.firstChild.focus({ preventScroll: true })
  next.firstChild.scrollIntoView({ block: 'nearest' })
}

function onlyFailed() {
  const boxes = [...document.querySelectorAll('#tools input[type=checkbox]')]
  const isOnly = boxes.every((box) => box.checked === (box.value === 'failed'))
  for (const box of boxes) box.checked = isOnly ? box.defaultChecked : box.value === 'failed'
  filterAnew()
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  f: onlyFailed,
  r: () =>
    press(currentRow()?.querySelector('[data-run]') ?? document.querySelector('[data-do=failed]')),
  '/': () => $('find').focus(),
}

document.addEventListener('keydown', (event) => {
  const { altKey, ctrlKey, key, metaKey, target } = event
  if (altKey || ctrlKey || metaKey || !$('use-keys').checked || !Object.hasOwn(keys, key)) return
  if (target.closest('input:not([type=checkbox]), textarea, select')) return
  event.preventDefault()
  keys[key]()
})

if (wide.matches) {
  const open = [...document.querySelectorAll('#list .r[open]')]
  // `:target` is not known before the page is whole.
  const named = $(decodeURIComponent(location.hash.slice(1)))
  const chosen = open.find((row) => row === named) ?? open[0]
  for (const row of open) if (row !== chosen) row.open = false
}
for (const row of document.querySelectorAll('#list .r[open]')) void showSent(row)
document.dispatchEvent(new Event('filtered'))

const events = new EventSource(`events?after=${document.body.dataset.version}`)
events.addEventListener('patch', (event) => {
  const { parts, state } = JSON.parse(event.data)
  for (const [key, markup] of Object.entries(parts)) replace(key, markup)
  show(state)
  if (Object.keys(parts).length === 0) return
  filter()
  addCopyButtons(document)
})
events.addEventListener('error', () =>
  show({
    ...{ ...state, isGone: true, isRunning: false, progress: undefined },
    ...{ text: gone, announcement: gone },
  }),
)
