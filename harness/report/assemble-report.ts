import { readFileSync } from 'node:fs'
import { requirementsDigest, specDigest, specVersion } from '../../catalogue/catalogue.ts'
import { packageFile } from '../../schemas/validate.ts'
import { decided } from './exit-code.ts'
import type { Report, RequirementResult } from './report-schema.ts'
import { summarize, verdictOf, type RunFacts } from './verdict.ts'

interface Found {
  readonly target: Report['target']
  readonly run: Report['run']
  readonly requirements: RequirementResult[]
  /** Why the target could not be judged, if so. */
  readonly notJudged?: string | undefined
}

/**
 * A report: what was found, and what follows from it.
 * @param judged what the verdict depends on besides, or instead of, `run`
 */
export function assembleReport(found: Found, judged: Partial<RunFacts> = {}): Report {
  const { target, run, requirements, notJudged } = found
  const suite = {
    name: 'ai-content-conformance',
    version: suiteVersion(),
    specVersion,
    specDigest,
    requirementsDigest: requirementsDigest(),
  }
  const verdict = verdictOf(requirements, { ...run, ...judged })
  const summary = summarize(requirements)
  const format = 'conformance-report/1'
  return decided({ format, suite, target, run, requirements, verdict, summary }, { notJudged })
}

export const noRun: Report['run'] = {
  startedAt: '',
  durationMs: 0,
  seed: 0,
  runs: 0,
  nonce: '',
  requests: 0,
  throttled: 0,
  concurrency: 0,
  strict: false,
  readOnly: false,
  tpe: 'exact',
  only: [],
  skip: [],
  baseline: null,
  insecure: false,
  ca: false,
  proxy: null,
  interrupted: false,
  depth: 'full',
  credentialProbes: 'all',
  notServed: [],
  created: [],
}

export function suiteVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string })
    .version
}
