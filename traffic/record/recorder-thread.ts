import { Worker } from 'node:worker_threads'
import { packageFile } from '../../schemas/package-file.ts'
import type { Finding, Recorded, RecordingOptions } from './recording.ts'
import type { CapturedExchange } from './reverse-proxy.ts'
import type { FromWorker, ToWorker } from './worker.ts'

/** Bytes of exchanges that may wait to be judged; no further request is handed on meanwhile. */
const mostWaiting = 32 * 1024 * 1024

/** Starts the thread that judges what is recorded. */
export function startRecorder(options: RecordingOptions, onFinding: (finding: Finding) => void) {
  const worker = new Worker(packageFile('dist/record-worker.js'), {
    workerData: options,
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  })
  const sizes: number[] = []
  let waiting = 0
  let free: (() => void)[] = []
  const ended = new Promise<Recorded>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'finding') return onFinding(message.finding)
      if (message.kind === 'ended') return resolve(message.recorded)
      for (const size of sizes.splice(0, message.exchanges)) waiting -= size
      if (waiting >= mostWaiting) return
      for (const call of free) call()
      free = []
    })
    worker.on('error', reject)
  })
  // It is looked at when the recording ends.
  ended.catch(() => undefined)
  const tell = (message: ToWorker, moved: ArrayBuffer[] = []): void => worker.postMessage(message, moved)
  return {
    add(exchange: CapturedExchange): void {
      const bodies = [exchange.requestBody.bytes, exchange.body.bytes]
      const size = bodies.reduce((sum, { length }) => sum + length, 1024)
      sizes.push(size)
      waiting += size
      tell(
        { kind: 'exchange', exchange },
        bodies.map(({ buffer }) => buffer as ArrayBuffer),
      )
    },
    /** Settles when another exchange can be taken: memory is bounded, whatever comes. */
    room: (): Promise<void> | undefined =>
      waiting < mostWaiting
        ? undefined
        : Promise.race([ended, new Promise<void>((call) => free.push(call))]).then(() => undefined),
    async end(): Promise<Recorded> {
      tell({ kind: 'end' })
      return ended
    },
  }
}
