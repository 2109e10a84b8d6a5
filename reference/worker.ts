import { parentPort, workerData } from 'node:worker_threads'
import { type ReferenceOptions, startReference } from './server.ts'

// A thread of its own: judge and judged use two cores.
void startReference(workerData as ReferenceOptions, true).then(({ url }) =>
  parentPort?.postMessage(url),
)
