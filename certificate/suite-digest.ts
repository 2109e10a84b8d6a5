import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Digest } from './statement.ts'

/** The folders that make up the suite as it is shipped: what judges, and what it says. */
const FOLDERS = [
  'bin',
  'cli',
  'fixtures',
  'harness',
  'reference',
  'reporters',
  'schemas',
  'suites',
  'catalogue',
  'certificate',
  'traffic',
]

/**
 * SHA-256 over the suite's own files: over the lines `<sha256 of the file>  <path>` in the order of the paths, package.json
 * included, as `sha256sum` prints them. Two installations of one version have the same.
 */
export function suiteDigest(root = fileURLToPath(new URL('..', import.meta.url))): Digest {
  const hex = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
  const files = ['package.json', ...FOLDERS.flatMap((folder) => filesIn(root, folder))].sort()
  return { sha256: hex(files.map((file) => `${hex(readFileSync(join(root, file)))}  ${file}\n`).join('')) }
}

function filesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(root, path)
    return entry.isFile() ? [path] : []
  })
}
