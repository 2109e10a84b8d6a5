import { fixture } from './fixture.ts'

/** The target file that declares everything that the reference has, as it stands in `fixtures/`. */
export const targetFile = JSON.parse(fixture('reference.target.json').toString('utf8')) as Readonly<
  Record<string, unknown>
> & { readonly keys: Readonly<Record<string, string>> }
