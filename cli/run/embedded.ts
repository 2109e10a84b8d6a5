import { Worker } from 'node:worker_threads'
import { packageFile } from '../../schemas/package-file.ts'

/** Target file of the embedded reference server, without a base URL. */
export const referenceTargetFile = packageFile('fixtures/reference.target.json')

export interface Embedded {
  readonly url: string
  close(): Promise<void>
}

/** The embedded reference server in a thread of its own. */
export async function startEmbedded(): Promise<Embedded> {
  // What it makes is garbage at once: a smaller nursery costs no time and takes less memory (docs/performance.md).
  const worker = new Worker(packageFile('dist/reference-worker.js'), {
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  })
  const url = await new Promise<string>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  // It keeps no process alive that has nothing else to do.
  worker.unref()
  return { url, close: async () => void (await worker.terminate()) }
}
