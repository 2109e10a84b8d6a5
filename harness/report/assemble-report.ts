import { readFileSync } from 'node:fs'
import { requirementsDigest, specDigest, specVersion } from '../../catalogue/catalogue.ts'
import { packageFile } from '../../schemas/validate.ts'
import { decided } from './exit-code.ts'
import type { Report, RequirementResult } from './report-schema.ts'
import { summarize, verdictOf } from './verdict.ts'

interface Found {
  readonly target: Report['target']
  readonly run: Report['run']
  readonly requirements: RequirementResult[]
  readonly judged: Parameters<typeof computed>[1]
  readonly notJudged?: string | undefined
}

export function assembleReport({ target, run, requirements, judged, notJudged }: Found): Report {
  const suite = {
    name: 'ai-content-conformance',
    version: suiteVersion(),
    specVersion,
    specDigest,
    requirementsDigest: requirementsDigest(),
  }
  const stated = { format: 'conformance-report/1', suite, target, run, requirements } as const
  return computed(stated, judged, notJudged)
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

type Stated = Pick<Report, 'format' | 'suite' | 'target' | 'run' | 'requirements'>

/**
 * Adds what follows from the results: verdict, summary, exit code.
 * @param judged what else the verdict depends on
 * @param notJudged why the target could not be judged, if so
 */
export function computed(
  stated: Stated,
  judged: Parameters<typeof verdictOf>[1],
  notJudged?: string,
): Report {
  const { requirements } = stated
  const verdict = verdictOf(requirements, judged)
  return decided({ ...stated, verdict, summary: summarize(requirements) }, { notJudged })
}

export function suiteVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string })
    .version
}
