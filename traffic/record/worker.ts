import { parentPort, workerData } from 'node:worker_threads'
import { createRecording, type Finding, type Recorded, type RecordingOptions } from './recording.ts'
import type { ClientFinding } from '../client/finding.ts'
import type { CapturedExchange } from './reverse-proxy.ts'

export interface ForWorker {
  readonly options: RecordingOptions
  /** Bytes that wait to be judged. */
  readonly waiting: Int32Array
}

export type ToWorker =
  | { readonly kind: 'exchange'; readonly exchange: CapturedExchange; readonly size: number }
  | { readonly kind: 'end' }

export type FromWorker =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'client'; readonly finding: ClientFinding }
  | { readonly kind: 'ended'; readonly recorded: Recorded }

/** Judging takes longer than handing on: it is done in a thread of its own, so that no request waits for it. */
const port = parentPort!
const { options, waiting } = workerData as ForWorker
const tell = (message: FromWorker): void => port.postMessage(message)
const recording = createRecording(
  options,
  (finding) => tell({ kind: 'finding', finding }),
  (finding) => tell({ kind: 'client', finding }),
)
let done = Promise.resolve()

async function take(message: ToWorker): Promise<void> {
  if (message.kind === 'end') {
    tell({ kind: 'ended', recorded: recording.end(new Date()) })
    return port.close()
  }
  await recording.add(message.exchange)
  // A message for each would cost the proxy more than the exchange does.
  Atomics.sub(waiting, 0, message.size)
  Atomics.notify(waiting, 0)
}

port.on('message', (message: ToWorker) => {
  done = done.then(() => take(message))
})
