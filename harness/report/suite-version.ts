import { readFileSync } from 'node:fs'
import { packageFile } from '../../schemas/package-file.ts'

/** Version of this package. */
export function suiteVersion(): string {
  const about = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
  return about.version
}
