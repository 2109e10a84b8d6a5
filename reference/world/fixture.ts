import { readFileSync } from 'node:fs'

/** Compiled code lies one folder deep in the package, this file two. */
const root = import.meta.url.endsWith('/reference/world/fixture.ts') ? '../../' : '../'

/** A file of `fixtures/`, which knows nothing of who uses it. */
export function fixture(path: string): Buffer {
  return readFileSync(new URL(`${root}fixtures/${path}`, import.meta.url))
}
