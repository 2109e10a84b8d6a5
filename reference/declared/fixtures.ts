import { readFileSync } from 'node:fs'

/** What is packed lies one folder deep, this file two. */
const root = /\/reference\/declared\/fixtures\.[jt]s$/.test(import.meta.url) ? '../../' : '../'

/** A file of `fixtures/`, which knows nothing of who uses it. */
export function fixture(path: string): Buffer {
  return readFileSync(new URL(`${root}fixtures/${path}`, import.meta.url))
}

interface Scenario {
  readonly operation?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The target file that declares everything that the reference has, as it stands in `fixtures/`. */
export const targetFile = JSON.parse(fixture('reference.target.json').toString('utf8')) as Readonly<
  Record<string, unknown>
> & {
  readonly keys: Readonly<Record<'full' | 'expired' | 'restricted', string>>
  readonly scenarios: Readonly<Record<string, Scenario>>
}
