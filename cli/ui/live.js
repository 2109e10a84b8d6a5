// Puts what the events bring in the place of what the page shows, and sends what the buttons say. Stands behind page.js.
const cells = new Map()
for (const cell of document.querySelectorAll('.matrix .cell')) cells.set(decodeURIComponent(cell.hash.slice(1)), cell)

const elementOf = (key) => (key.startsWith('cell:') ? cells.get(key.slice(5)) : $(key))
const focusable = (element) => [element, ...element.querySelectorAll('a, button, summary, textarea')]

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
  const [written, offered] = [old, fresh].map((element) => element.querySelector('textarea'))
  // What was filled in stays, until something else is to be filled in.
  if (written && written.defaultValue === offered?.defaultValue) offered.value = written.value
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
  for (const button of document.querySelectorAll('[data-do], [data-run], [data-add]')) {
    const isStop = button.dataset.do === 'stop'
    const isOff = isStop ? !isRunning : isRunning || (button.dataset.do === 'failed' && failed === 0)
    button.setAttribute('aria-disabled', String(isOff))
  }
}

/** What is wrong with a command; undefined if it is done. */
async function send(command) {
  const answer = await fetch('run', { method: 'POST', body: JSON.stringify(command) }).catch(() => undefined)
  if (answer?.ok) return undefined
  return answer ? answer.text() : gone
}

async function run(what) {
  const problem = await send({ run: what })
  if (problem === undefined) return
  setText($('now'), problem)
  setText($('said'), problem)
}

async function add(part) {
  setText($('added'), (await send({ add: part })) ?? 'Added: everything runs again.')
}

const gone = 'conform does not answer any more: this page shows what it said last.'

document.addEventListener('click', (event) => {
  const button = event.target.closest?.('[data-do], [data-run], [data-add]')
  if (!button || button.getAttribute('aria-disabled') === 'true') return
  void (button.dataset.add ? add($(button.dataset.add).value) : run(button.dataset.do ?? button.dataset.run))
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
