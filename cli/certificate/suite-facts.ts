import { readFileSync } from 'node:fs'
import { catalogue } from '../../spec/catalogue.ts'
import type { SuiteFacts } from './issue.ts'
import { suiteDigest } from './suite-digest.ts'

/** This installation of the suite, as far as a certificate speaks of it. */
export function suiteFacts(): SuiteFacts {
  const about = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return { version: about.version, digest: suiteDigest(), requirements: catalogue }
}
