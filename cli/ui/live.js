// Puts what the events bring in the place of what the page shows, and sends what the buttons say. Stands behind page.js.
const cells = new Map()
for (const cell of document.querySelectorAll('.matrix .cell')) cells.set(decodeURIComponent(cell.hash.slice(1)), cell)

const elementOf = (key) => (key.startsWith('cell:') ? cells.get(key.slice(5)) : $(key))
const focusable = (element) => [element, ...element.querySelectorAll('a, button, summary')]

/** Replaces an element; focus stays, and what was opened or closed by hand stays so. */
function replace(key, markup) {
  const old = elementOf(key)
  if (!old) return
  const template = document.createElement('template')
  template.innerHTML = markup
  const fresh = template.content.firstElementChild
  if (fresh.classList.contains('r')) {
    fresh.open = old.open || (fresh.dataset.o === 'failed' && old.dataset.o !== 'failed')
  }
  const at = focusable(old).indexOf(document.activeElement)
  old.replaceWith(fresh)
  if (key.startsWith('cell:')) cells.set(key.slice(5), fresh)
  if (at >= 0) (focusable(fresh)[at] ?? fresh).focus({ preventScroll: true })
}

let state = { isRunning: false, failed: 0 }

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

function show(next) {
  state = next
  const { failed, isRunning, progress, said, text } = next
  setText($('now'), text)
  setText($('said'), said)
  setText($('failed-count'), failed > 0 ? String(failed) : '')
  $('progress').hidden = !isRunning
  if (progress) {
    $('progress').max = progress.of
    $('progress').value = progress.judged
  } else $('progress').removeAttribute('value')
  document.body.classList.toggle('running', isRunning)
  markButtons()
}

// Not `disabled`: a button that has the focus keeps it.
function markButtons() {
  const { failed, isRunning } = state
  for (const button of document.querySelectorAll('[data-do], [data-run]')) {
    const isStop = button.dataset.do === 'stop'
    const isOff = isStop ? !isRunning : isRunning || (button.dataset.do === 'failed' && failed === 0)
    button.setAttribute('aria-disabled', String(isOff))
  }
}

async function send(run) {
  const answer = await fetch('run', { method: 'POST', body: JSON.stringify({ run }) }).catch(() => undefined)
  if (answer?.ok) return
  const problem = answer ? await answer.text() : gone
  setText($('now'), problem)
  setText($('said'), problem)
}

const gone = 'conform does not answer any more: this page shows what it said last.'

document.addEventListener('click', (event) => {
  const button = event.target.closest?.('[data-do], [data-run]')
  if (!button || button.getAttribute('aria-disabled') === 'true') return
  void send(button.dataset.do ?? button.dataset.run)
})

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
  show({ ...state, isRunning: false, progress: undefined, text: gone, said: gone }),
)
