import { parentPort, workerData } from 'node:worker_threads'
import { type ReferenceOptions, startReference } from './server.ts'

// A thread of its own: judge and judged use two cores.
const { url } = await startReference(workerData as ReferenceOptions, true)
parentPort?.postMessage(url)
