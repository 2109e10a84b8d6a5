import { readFileSync } from 'node:fs'

/** The target file that declares everything that the reference has, as it stands in `fixtures/`. */
export const targetFile = JSON.parse(
  readFileSync(new URL('../fixtures/reference.target.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, unknown>> & { readonly keys: Readonly<Record<string, string>> }
