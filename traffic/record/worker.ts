import { parentPort, workerData } from 'node:worker_threads'
import { createRecording, type Finding, type Recorded, type RecordingOptions } from './recording.ts'
import type { CapturedExchange } from './reverse-proxy.ts'

export type ToWorker = { readonly kind: 'exchange'; readonly exchange: CapturedExchange } | { readonly kind: 'end' }

export type FromWorker =
  | { readonly kind: 'finding'; readonly finding: Finding }
  /** So many exchanges more are judged and written down. */
  | { readonly kind: 'done'; readonly exchanges: number }
  | { readonly kind: 'ended'; readonly recorded: Recorded }

/** Judging takes longer than handing on: it is done in a thread of its own, so that no request waits for it. */
const port = parentPort!
const tell = (message: FromWorker): void => port.postMessage(message)
const recording = createRecording(workerData as RecordingOptions, (finding) => tell({ kind: 'finding', finding }))
const queue: ToWorker[] = []
/** Told together: a message for each would cost the proxy more than the exchange does. */
const mostDone = 32
let isBusy = false

async function work(): Promise<void> {
  isBusy = true
  let exchanges = 0
  for (let next = queue.shift(); next; next = queue.shift()) {
    if (next.kind === 'end') {
      tell({ kind: 'ended', recorded: recording.end(new Date()) })
      port.close()
      return
    }
    await recording.add(next.exchange)
    exchanges++
    if (exchanges < mostDone && queue.length > 0) continue
    tell({ kind: 'done', exchanges })
    exchanges = 0
  }
  isBusy = false
}

port.on('message', (message: ToWorker) => {
  queue.push(message)
  if (!isBusy) void work()
})
