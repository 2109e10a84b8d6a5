import { fileURLToPath } from 'node:url'

/** Path of a file of this package. Both this file and compiled code are one folder deep. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

/** Path of a module of this package: compiled, or its source if the sources themselves run. */
export function moduleFile(compiled: string, source: string): string {
  return packageFile(import.meta.url.endsWith('.ts') ? source : compiled)
}

export const referenceTargetFile = packageFile('fixtures/reference.target.json')
