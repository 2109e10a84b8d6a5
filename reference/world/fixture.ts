import { readFileSync } from 'node:fs'

/** What is packed lies one folder deep, this file two. */
const root = /\/reference\/world\/fixture\.[jt]s$/.test(import.meta.url) ? '../../' : '../'

/** A file of `fixtures/`, which knows nothing of who uses it. */
export function fixture(path: string): Buffer {
  return readFileSync(new URL(`${root}fixtures/${path}`, import.meta.url))
}
