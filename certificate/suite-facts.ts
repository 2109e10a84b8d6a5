import { requirementsDigest, requirementsText, specDigest } from '../catalogue/digests.ts'
import { suiteVersion } from '../harness/report/suite-version.ts'
import type { Digest } from './statement.ts'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { packageFile } from '../schemas/package-file.ts'

/** The folders that make up the suite as it is shipped and run. */
const FOLDERS = ['bin', 'dist']
/** Declarations, which no run reads. */
const TYPES = 'dist/types'

/**
 * SHA-256 over the suite's own files: over the lines `<sha256 of the file>  <path>` in the order of the paths, package.json
 * included, as `sha256sum` prints them. Two installations of one version have the same.
 */
export function suiteDigest(root = packageFile('.')): Digest {
  const hex = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
  const files = ['package.json', ...FOLDERS.flatMap((folder) => filesIn(root, folder))].sort()
  return { sha256: hex(files.map((file) => `${hex(readFileSync(join(root, file)))}  ${file}\n`).join('')) }
}

function filesIn(root: string, folder: string): string[] {
  if (folder === TYPES || !existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(root, path)
    return entry.isFile() ? [path] : []
  })
}

/** What a certificate needs to know of a requirement. */
export interface KnownRequirement {
  readonly id: string
  readonly operation: string
  readonly level: string
}

/** An installation of the suite, as far as a certificate speaks of it. */
export interface SuiteFacts {
  readonly version: string
  /** Of its files. */
  readonly digest: Digest
  readonly specDigest: string
  readonly requirementsDigest: string
  /** The catalogue as canonical JSON, whose digest `requirementsDigest` is. */
  readonly requirementsText: string
}

/** This installation. */
export function suiteFacts(): SuiteFacts {
  return {
    version: suiteVersion(),
    digest: suiteDigest(),
    specDigest,
    requirementsDigest: requirementsDigest(),
    requirementsText: requirementsText(),
  }
}

/** The requirements of a catalogue's canonical JSON; null if it is not a catalogue. */
export function requirementsIn(text: string): KnownRequirement[] | null {
  try {
    const value = JSON.parse(text) as KnownRequirement[]
    const isOne = ({ id, operation, level }: KnownRequirement) =>
      [id, operation, level].every((member) => typeof member === 'string')
    return Array.isArray(value) && value.every(isOne) ? value : null
  } catch {
    return null
  }
}
