import { fileURLToPath } from 'node:url'

/** Path of a file of this package. Both this file and compiled code are one folder deep. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

export const referenceTargetFile = packageFile('fixtures/reference.target.json')
