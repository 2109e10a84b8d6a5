import { readFileSync } from 'node:fs'
import { packageFile } from '../schemas/package-file.ts'
import { startReference as startServer } from '../reference/server.ts'
import type { Target } from './target.ts'

export { defects, variants } from '../reference/server.ts'

/** What the server does, and does wrong. */
export type ReferenceOptions = NonNullable<Parameters<typeof startServer>[0]>

/** A server of the whole interface that runs in this process. */
export interface Reference {
  /** Base URL, without a slash at its end. */
  readonly url: string
  /** Declares everything that the server has, its base URL included. */
  readonly target: Target
  /** Ends the server and all its connections, at once. */
  close(): Promise<void>
}

/**
 * Starts a conforming server of the whole interface, in memory, on the loopback address; with `defects`, one that misbehaves
 * on purpose.
 * @throws Error on a defect or variant that does not exist, or a port that is taken.
 */
export async function startReference(options: ReferenceOptions = {}): Promise<Reference> {
  const { url, close } = await startServer(options)
  const file = JSON.parse(readFileSync(packageFile('fixtures/reference.target.json'), 'utf8')) as Target
  const { $schema: _, ...target } = file
  return { url, target: { ...target, baseUrl: url }, close }
}
