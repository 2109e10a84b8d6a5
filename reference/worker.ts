import { parentPort, workerData } from 'node:worker_threads'
import { type ReferenceOptions, startReference } from './server.ts'

// Runs in its own thread, so that engine and reference use two cores.
void startReference(workerData as ReferenceOptions, true).then((reference) =>
  parentPort?.postMessage(reference.url),
)
