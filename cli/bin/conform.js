#!/usr/bin/env node
import { constants } from 'node:os'

/** Saved before anything else runs: the command line hides `process.exit` from foreign code. */
const exit = process.exit.bind(process)

listenForOutputErrors()
// Before the rest is loaded, which may take seconds: a signal that arrives meanwhile must be handled.
const interrupts = listenForInterrupts()
const { main } = await import('../../dist/conform.js')
await main(process.argv, interrupts)

/** @returns {import('../guard.ts').Interrupts} */
function listenForInterrupts() {
  const signals = ['SIGHUP', 'SIGINT', 'SIGTERM']
  /** Time until the reports are written, in ms: the run must end within 2 s, also on a busy machine. */
  const graceMs = 1_000
  /** `timeout` and npm send one signal twice: to the process, and to its group. */
  const twiceMs = 200
  let came
  let cameAt = 0
  let timer
  let overdue = endWithNothing
  const first = new AbortController()
  let isOver = false
  const onSignal = (signal) => {
    // The reports are written; only the process is left to end.
    if (isOver) exit()
    if (signal === came && performance.now() - cameAt < twiceMs) return
    if (came !== undefined) exit(128 + constants.signals[signal])
    came = signal
    cameAt = performance.now()
    timer = setTimeout(() => overdue(), graceMs)
    first.abort()
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    signal: first.signal,
    onOverdue(call) {
      overdue = call
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

/**
 * Reports output that cannot be written once, with exit code 2; the process goes on, since reports may still be
 * written.
 */
function listenForOutputErrors() {
  let isTold = false
  const onError = (error) => {
    const { code = 'error' } = error
    // The reader has closed the pipe (`conform list | head`), or the terminal is gone.
    if (code === 'EPIPE' || code === 'EIO' || isTold) return
    isTold = true
    process.stderr.write(`conform: cannot write output (${code})\n`)
    process.once('exit', () => {
      process.exitCode = 2
    })
  }
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onError)
}
