/** A run in a thread of its own, for a test file whose environment has replaced Node's classes by those of a browser. */
import { parentPort, workerData } from 'node:worker_threads'
import { startReference } from '../reference.ts'
import { followRun } from '../run-conformance.ts'
import type { ThreadMessage, ThreadRequest } from './own-thread.ts'

const port = parentPort!
const tell = (message: ThreadMessage): void => port.postMessage(message)
const { options, target, rerun } = workerData as ThreadRequest
const controller = new AbortController()
port.once('message', () => controller.abort())

const reference = target === undefined ? await startReference() : undefined
try {
  const run = followRun({
    target: target ?? reference!.target,
    options: { ...options, signal: controller.signal },
    rerun,
  })
  for await (const event of run) tell({ event })
  tell({ report: await run.report })
} catch (error) {
  tell({ problem: error instanceof Error ? error.message : String(error) })
} finally {
  await reference?.close()
  // A port that is listened to keeps the thread alive.
  port.close()
}
