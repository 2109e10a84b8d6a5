import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

/** Saved before anything else runs: the command line hides `process.exit` from foreign code. */
const exit = process.exit.bind(process)

export async function conform() {
  listenForOutputErrors()
  const [first = '', ...more] = process.argv.slice(2)
  if (/^(-V|--version)$/.test(first) && more.length === 0) return sayVersion()
  // First of all: a signal that arrives while the rest is loading must be handled.
  const interrupts = listenForInterrupts()
  // A run is short: much of what V8 of Node.js 20 optimizes never pays off (docs/performance.md), least of all the HTTP
  // parser, whose one large function takes 90 ms and 29 MB. Later versions wait longer.
  if (process.versions.v8.startsWith('11.'))
    for (const flag of ['interrupt-budget=1500000', 'no-wasm-dynamic-tiering', 'no-wasm-tier-up'])
      setFlagsFromString(`--${flag}`)
  const { main } = await import('../../dist/conform.js')
  await main(process.argv, interrupts)
}

/** Prints the version without loading anything: loading the command line takes as long as Node.js itself. */
function sayVersion() {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  process.stdout.write(`${version}\n`)
}

/**
 * Time until the reports are written after an interrupt, in ms. The run must end within 2 s, also on a busy machine
 * where ending requests and writing reports may take some hundred ms each.
 */
const graceMs = 1_000
/** Shorter grace while there is nothing to report yet, in ms: loading the reporters takes some hundred more. */
const graceBeforeMs = 500
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
const signals = Object.keys(exitCodes)

/**
 * Listens for SIGINT, SIGTERM and SIGHUP. Separate from the command line, which may take seconds to compile.
 * @returns {import('../guard.ts').Interrupts}
 */
function listenForInterrupts() {
  let came
  let timer
  /** @type {(() => void) | undefined} */
  let overdue
  const first = new AbortController()
  let isOver = false
  const onSignal = (signal) => {
    // The reports are written; only the process is left to end.
    if (isOver) exit()
    // A second signal ends the process at once.
    if (came !== undefined) exit(exitCodes[signal])
    came = signal
    timer =
      overdue === undefined
        ? setTimeout(endWithNothing, graceBeforeMs)
        : setTimeout(overdue, graceMs)
    first.abort()
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    signal: first.signal,
    onOverdue(call) {
      overdue = call
      if (came === undefined) return
      clearTimeout(timer)
      timer = setTimeout(call, graceMs)
    },
    restoreDefaultSignals() {
      clearTimeout(timer)
      for (const signal of signals) process.off(signal, onSignal)
      if (came !== undefined) process.kill(process.pid, came)
    },
    stop() {
      clearTimeout(timer)
      isOver = true
    },
  }
}

function endWithNothing() {
  process.stderr.write(
    'conform: interrupted before the target file was read: nothing was judged, no report was written\n',
  )
  exit(3)
}

let isTold = false

/**
 * Reports output that cannot be written once, with exit code 2; the process goes on, since reports may still be
 * written.
 */
function listenForOutputErrors() {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onStreamError)
}

function onStreamError({ code = 'error' }) {
  // The reader has closed the pipe (`conform list | head`), or the terminal is gone.
  if (code === 'EPIPE' || code === 'EIO' || isTold) return
  isTold = true
  process.stderr.write(`conform: cannot write output (${code})\n`)
  process.once('exit', () => {
    process.exitCode = 2
  })
}
