import { readFileSync } from 'node:fs'
import { referenceTargetFile } from '../schemas/validate.ts'
import {
  defects,
  startReference as startServer,
  targetFile,
  variants,
} from '../reference/server.ts'
import type { Target } from './options.ts'

export { defects, variants }

/** Options of the reference server, including deliberate defects. */
export type ReferenceOptions = NonNullable<Parameters<typeof startServer>[0]>

/** A server of the whole interface that runs in this process. */
export interface Reference {
  /** Base URL, without a trailing slash. */
  readonly url: string
  /** A key with all rights. */
  readonly key: string
  /** Declares everything that the server has, including its base URL. */
  readonly target: Target
  /** Closes the server and all its connections at once. */
  close(): Promise<void>
}

/**
 * Starts a conforming in-memory server of the whole interface on the loopback address; with `defects`, it misbehaves on
 * purpose.
 * @throws Error for an unknown defect or variant, or a port that is taken
 */
export async function startReference(options: ReferenceOptions = {}): Promise<Reference> {
  const { url, close } = await startServer(options)
  const file = JSON.parse(readFileSync(referenceTargetFile, 'utf8')) as Target
  const { $schema: _, ...target } = file
  return { url, key: targetFile.keys.full, target: { ...target, baseUrl: url }, close }
}
