let isTold = false

/** Output that cannot be written is reported once and makes the exit code 2, but ends nothing: reports may still be written. */
export function listenForOutputErrors() {
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
