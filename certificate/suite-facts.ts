import { catalogue } from '../catalogue/catalogue.ts'
import { suiteVersion } from '../harness/report/suite-version.ts'
import type { SuiteFacts } from './issue.ts'
import { suiteDigest } from './suite-digest.ts'

/** This installation of the suite, as far as a certificate speaks of it. */
export function suiteFacts(): SuiteFacts {
  return { version: suiteVersion(), digest: suiteDigest(), requirements: catalogue }
}
