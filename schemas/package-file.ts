import { fileURLToPath } from 'node:url'

/** Path of a file of this package. Compiled code lies one folder deep in it, as this file does. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

/** Target file of the embedded reference server, without a base URL. */
export const referenceTargetFile = packageFile('fixtures/reference.target.json')
