import { readFileSync } from 'node:fs'
import { packageFile } from '../../schemas/package-file.ts'

interface Manifest {
  readonly version: string
  readonly homepage?: string
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Manifest
}

/** Version of this package. */
export function suiteVersion(): string {
  return manifest().version
}

/** Address of the site of its documents: `homepage` of its package.json; undefined if it names none. */
export function suiteSite(): string | undefined {
  return manifest().homepage
}
