import { transferableAbortController } from 'node:util'
import { Worker } from 'node:worker_threads'
import { createEventQueue } from '../../harness/engine/index.ts'
import { UserError } from '../../harness/user-error.ts'
import type { ConformanceEvent } from '../options.ts'
import type { ConformanceRun } from '../run-conformance.ts'
import type { Report, RunRequest } from '../start-run.ts'
import { packageFile } from '../../schemas/package-file.ts'

/** What a thread is asked for; without a target, the embedded reference. */
export type ThreadRequest = Pick<RunRequest, 'options'> & Partial<RunRequest>

/** What a thread tells: events, then the report, or why there is none. */
export type ThreadMessage =
  | { readonly event: ConformanceEvent }
  | { readonly report: Report }
  | { readonly problem: string }

/** Whether the environment of the test file (`jsdom`, `happy-dom`) has put classes of its own in the place of Node's. */
export function hasForeignClasses(): boolean {
  const { constructor } = transferableAbortController()
  return constructor !== globalThis.AbortController || 'window' in globalThis
}

/**
 * Judges in a thread of its own, where all classes are Node's; yields as the library does.
 * @throws UserError if the target holds functions, which no other thread can call
 */
export function followInThread({ options, ...request }: ThreadRequest): ConformanceRun {
  const { signal, ...rest } = options
  const queue = createEventQueue<ConformanceEvent>()
  const worker = startThread({ ...request, options: rest })
  signal?.addEventListener('abort', () => worker.postMessage('end'), { once: true })
  const report = new Promise<Report>((resolve, reject) => {
    worker.on('message', (message: ThreadMessage) => {
      if ('event' in message) queue.push(message.event)
      else if ('report' in message) resolve(message.report)
      else reject(new UserError(message.problem))
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the thread of the run ended before the run')))
  })
  report.then(
    () => queue.close(),
    (error: unknown) => queue.close(error instanceof Error ? error : new Error(String(error))),
  )
  return { report, [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator]() }
}

function startThread(workerData: ThreadRequest): Worker {
  try {
    return new Worker(packageFile('dist/vitest-worker.js'), { workerData })
  } catch (error) {
    if ((error as Error).name !== 'DataCloneError') throw error
    throw new UserError(
      'a target with functions (fetch, keys) is judged in the environment node alone: write // @vitest-environment node at the top of the test file',
    )
  }
}
