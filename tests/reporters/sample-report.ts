import { noRun } from '../../harness/report/assemble-report.ts'
import { decided, type ExitOptions } from '../../harness/report/exit-code.ts'
import type { Counts, Failure, Report, RequirementResult, Undecided, Verdict } from '../../harness/report/model.ts'
import { sampleCatalogue } from './sample-catalogue.ts'

export interface SampleOptions {
  readonly size?: number
  /** How the result at that place of the catalogue ended; passed where nothing is said. */
  readonly end?: (at: number) => Partial<RequirementResult>
  readonly run?: Partial<Report['run']>
  readonly target?: Partial<Report['target']>
  readonly exit?: ExitOptions
}

/** A failure with its exchange; `actual` and the bodies carry the text. */
export function sampleFailure(id: string, text = '404 NotFound', change: Partial<Failure> = {}): Failure {
  const url = 'https://staging.example.com/v1/applications/a-1/jobs'
  return {
    message: 'POST /v1/applications/a-1/jobs with a valid body',
    expected: '404 ResourceNotFound',
    actual: text,
    familyOnly: false,
    seed: 421,
    path: '0:1',
    at: '/tpe',
    control: {
      request: {
        method: 'POST',
        url,
        headers: { authorization: 'Bearer $CONFORM_API_KEY' },
        body: `{"inputs":[${JSON.stringify(text)}]}`,
      },
      status: 202,
    },
    rerun: `conform https://staging.example.com --only ${id} --seed 421`,
    exchange: {
      request: { method: 'POST', url, headers: { authorization: 'Bearer $CONFORM_API_KEY' }, body: '{"inputs":[]}' },
      response: {
        status: 404,
        headers: { 'content-type': 'application/json', 'x-note': text },
        body: JSON.stringify({ tpe: 'NotFound', errors: [{ description: text }], extras: {} }),
      },
      curl: `curl -X POST '${url}' -H "Authorization: Bearer $CONFORM_API_KEY" -d '{"inputs":[]}'`,
    },
    ...change,
  }
}

export const fails =
  (text?: string, change?: Partial<Failure>): SampleOptions['end'] =>
  () => ({ outcome: 'failed', failures: [sampleFailure('<id>', text, change)] })

/** Ends of every kind, by place: most pass, some fail, some were not exercised or are not applicable. */
export function mixed(at: number): Partial<RequirementResult> {
  if (at % 41 === 7) return { outcome: 'failed', failures: [sampleFailure('<id>')] }
  if (at % 13 === 5) return { outcome: 'not-exercised', reason: 'declare /scenarios/<id> in the target file', cases: 0 }
  if (at % 17 === 3) return { outcome: 'not-applicable', reason: 'vision.analyze is not served', cases: 0 }
  return {}
}

export function sampleReport({ size = 290, end = () => ({}), run, target, exit }: SampleOptions = {}): Report {
  const requirements = sampleCatalogue(size).map((row, at): RequirementResult => {
    const base = {
      ...row,
      outcome: 'passed' as const,
      control: 'granted' as const,
      cases: 3,
      durationMs: 12,
      failures: [],
    }
    const ended = end(at)
    const failures = (ended.failures ?? []).map((one) => ({ ...one, rerun: one.rerun.replace('<id>', row.id) }))
    const reason = ended.reason === undefined ? {} : { reason: ended.reason.replace('<id>', row.id) }
    return { ...base, ...ended, failures, ...reason }
  })
  const exact = verdictOf(requirements, (result) => result.outcome === 'failed')
  const family = verdictOf(requirements, ({ failures }) => failures.some((failure) => !failure.familyOnly))
  const undecided: Undecided = {
    format: 'conformance-report/1',
    suite: {
      name: 'ai-content-conformance',
      version: '0.1.0',
      specVersion: '1.0',
      specDigest: `sha256:${'a'.repeat(64)}`,
      requirementsDigest: `sha256:${'b'.repeat(64)}`,
    },
    target: {
      name: 'Example staging',
      baseUrl: 'https://staging.example.com',
      digest: `sha256:${'c'.repeat(64)}`,
      ...target,
    },
    run: {
      ...noRun,
      startedAt: '2026-03-01T12:00:00.000Z',
      durationMs: 48_200,
      seed: 421,
      runs: 25,
      nonce: 'k3x9a1',
      requests: 3012,
      concurrency: 8,
      ...run,
    },
    verdict: run?.tpe === 'family' ? family : exact,
    verdicts: { exact, family },
    summary: { must: countsOf(requirements, 'must'), should: countsOf(requirements, 'should') },
    requirements,
  }
  return decided(undecided, exit)
}

function verdictOf(results: RequirementResult[], hasFailed: (result: RequirementResult) => boolean): Verdict {
  const musts = results.filter(({ level }) => level === 'must')
  if (musts.some(hasFailed)) return 'non-conformant'
  if (!results.some(({ outcome }) => outcome === 'passed' || outcome === 'failed')) return 'not-judged'
  return musts.some(({ outcome }) => outcome === 'not-exercised') ? 'passing' : 'conformant'
}

function countsOf(results: RequirementResult[], level: string): Counts {
  const of = (outcome: string) => results.filter((one) => one.level === level && one.outcome === outcome).length
  return {
    passed: of('passed'),
    failed: of('failed'),
    notExercised: of('not-exercised'),
    notApplicable: of('not-applicable'),
  }
}
