import { readFileSync } from 'node:fs'

/** Version of this package. */
export function suiteVersion(): string {
  const about = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return about.version
}
