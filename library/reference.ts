import { readFileSync } from 'node:fs'
import { referenceTargetFile } from '../schemas/validate.ts'
import { didYouMean } from '../harness/target/index.ts'
import {
  defects,
  startReference as startServer,
  targetFile,
  variants,
} from '../reference/server.ts'
import { type Check, checkNamed, type Target } from './options.ts'

export { defects, variants }

/** Options of the reference server, including deliberate defects. */
export type ReferenceOptions = NonNullable<Parameters<typeof startServer>[0]>

const namesOf =
  (known: readonly string[]): Check =>
  (value) => {
    if (!Array.isArray(value) && !(value instanceof Set)) return 'give a list of names'
    const names: unknown[] = [...value]
    if (!names.every((name) => typeof name === 'string')) return 'give a list of names'
    const unknown = names.find((name) => !known.includes(name))
    return unknown === undefined ? undefined : `there is no ${unknown}${didYouMean(unknown, known)}`
  }

const checks = { defects: namesOf(defects), variants: namesOf(variants) }

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
 * @throws UserError for an unknown defect or variant; Error if the port is taken.
 */
export async function startReference(options: ReferenceOptions = {}): Promise<Reference> {
  const { defects: wrong, variants: other } = options
  checkNamed({ defects: wrong, variants: other }, checks)
  const { url, close } = await startServer(options)
  const file = JSON.parse(readFileSync(referenceTargetFile, 'utf8')) as Target
  const { $schema: _, ...target } = file
  return { url, key: targetFile.keys.full, target: { ...target, baseUrl: url }, close }
}
