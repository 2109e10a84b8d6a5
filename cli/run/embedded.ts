import { once } from 'node:events'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { moduleFile } from '../../schemas/validate.ts'

export interface Embedded {
  readonly url: string
  readonly worker: Worker
}

export async function startEmbedded(): Promise<Embedded> {
  // Its objects are short-lived: a smaller nursery costs no time and saves memory (docs/performance.md).
  const file = moduleFile('dist/reference-worker.js', 'reference/worker.ts')
  const execArgv: string[] = []
  // Node.js 20 needs a loader to run sources; the package has none.
  if (file.endsWith('.ts')) {
    const loader = createRequire(import.meta.url).resolve('@oxc-node/core')
    execArgv.push('--import', new URL('register.mjs', pathToFileURL(loader)).href)
  }
  const resourceLimits = { maxYoungGenerationSizeMb: 4 }
  const worker = new Worker(file, { execArgv, resourceLimits })
  const [url] = (await once(worker, 'message')) as [string]
  worker.unref()
  return { url, worker }
}
