import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

/** Kept before anything else runs: the command line keeps it from the code of others. */
const exit = process.exit.bind(process)

/** Runs the command line of this process. */
export async function conform() {
  listenForOutputErrors()
  const [first = '', ...more] = process.argv.slice(2)
  if (/^(-V|--version)$/.test(first) && more.length === 0) return sayVersion()
  // Before anything else: loading takes a moment, and a signal must not go unheard for so long.
  const interrupts = listenForInterrupts()
  // A run is short: much of what V8 of Node.js 20 optimizes never pays for itself (docs/performance.md). Later ones wait longer.
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=500000')
  const { main } = await import('../../dist/conform.js')
  await main(process.argv, interrupts)
}

/** Says it without loading anything: to load the command line takes as long as Node.js itself. */
function sayVersion() {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  process.stdout.write(`${version}\n`)
}

/**
 * Reports are written with what is known by then after an interrupt, in ms. The run is to end within 2 s on a busy machine
 * too, if ending what is under way and writing may take some hundred each.
 */
const graceMs = 1_000
/** Grace before there is anything to report, in ms: loading what reports takes some hundred more. */
const graceBeforeMs = 500
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
const signals = Object.keys(exitCodes)

/**
 * Listens for SIGINT, SIGTERM and SIGHUP. Loaded before anything else: the command line takes up to some seconds to be compiled,
 * and a signal must not go unheard for so long.
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
    // The reports are written, and nothing is left to be ended but the process.
    if (isOver) exit()
    // A second signal waits for nothing.
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

/** A report names its target: without one none can be written. */
function endWithNothing() {
  process.stderr.write(
    'conform: interrupted before the target was read: nothing was judged, no report is written\n',
  )
  exit(3)
}

let isTold = false

/** Output that cannot be written is reported once and makes the exit code 2, but ends nothing: reports may still be written. */
function listenForOutputErrors() {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onStreamError)
}

function onStreamError({ code = 'error' }) {
  // The reader has read enough (`conform list | head`), or the terminal is gone.
  if (code === 'EPIPE' || code === 'EIO' || isTold) return
  isTold = true
  process.stderr.write(`conform: the output cannot be written (${code})\n`)
  process.once('exit', () => {
    process.exitCode = 2
  })
}
