import { requirementsDigest, specDigest, specVersion } from '../../catalogue/digests.ts'
import { computed } from './computed.ts'
import type { Report, RequirementResult } from './model.ts'
import { suiteVersion } from './suite-version.ts'

/** What a run or a recording showed. */
export interface Found {
  readonly target: Report['target']
  readonly run: Report['run']
  /** Every requirement of the catalogue, in its order. */
  readonly requirements: RequirementResult[]
  /** What the verdicts depend on besides the results. */
  readonly judged: Parameters<typeof computed>[1]
  /** Why the target could not be judged, if it could not. */
  readonly notJudged?: string | undefined
}

/** The report of what was found. */
export function assembleReport({ target, run, requirements, judged, notJudged }: Found): Report {
  const suite = {
    name: 'ai-content-conformance',
    version: suiteVersion(),
    specVersion,
    specDigest,
    requirementsDigest: requirementsDigest(),
  } as const
  return computed({ format: 'conformance-report/1', suite, target, run, requirements }, judged, notJudged)
}
