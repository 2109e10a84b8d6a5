import { plainReason, type Reason } from '../../harness/report/reason.ts'
import {
  noRun,
  decided,
  type ExitOptions,
  summarize,
  verdictOf,
} from '../../harness/report/verdict.ts'
import type { Failure, Report, RequirementResult, Undecided } from '../../schemas/report.ts'

const digest = (character: string) => `sha256:${character.repeat(64)}`

/** A result of the requirement of that id, passed unless said otherwise. */
export function result(id: string, change: Partial<RequirementResult> = {}): RequirementResult {
  return {
    id,
    operation: id.split('/')[0]!,
    level: 'must',
    section: '4.2',
    statement: `What ${id} asks for.`,
    outcome: 'passed',
    control: 'none',
    cases: 1,
    durationMs: 5,
    failures: [],
    ...change,
  }
}

export function failure(change: Partial<Failure> = {}): Failure {
  return {
    message: 'POST /v1/applications/a-1/jobs with a valid body',
    expected: '404 ResourceNotFound',
    actual: '404 NotFound',
    onlyName: false,
    seed: 421,
    rerun: 'conform https://example.com --only jobs.create/404-unknown-application --seed 421',
    exchange: {
      request: {
        method: 'POST',
        url: 'https://example.com/v1/applications/a-1/jobs',
        headers: {},
        body: '{}',
      },
      response: {
        status: 404,
        headers: { 'content-type': 'application/json' },
        body: '{"tpe":"NotFound","errors":[],"extras":{}}',
      },
      curl: "curl -X POST 'https://example.com/v1/applications/a-1/jobs'",
    },
    ...change,
  }
}

export const failed = (id: string, ...failures: Partial<Failure>[]) =>
  result(id, {
    outcome: 'failed',
    failures: failures.length > 0 ? failures.map(failure) : [failure()],
  })

export const missed = (id: string, reason: string | Reason = 'declare resources.application') =>
  result(id, { outcome: 'not-exercised', ...plainReason(reason), cases: 0 })

export const notApplicable = (id: string, reason: string | Reason = 'not served') =>
  result(id, { outcome: 'not-applicable', ...plainReason(reason), cases: 0 })

/** A report of those results, consistent with itself. */
export function report(
  requirements: RequirementResult[],
  run: Partial<Report['run']> = {},
  options: ExitOptions = {},
): Report {
  const facts: Report['run'] = {
    ...noRun,
    startedAt: '2026-03-01T12:00:00.000Z',
    durationMs: 1200,
    seed: 421,
    runs: 25,
    nonce: 'k3x9a1',
    requests: 40,
    throttled: 1,
    concurrency: 8,
    ...run,
  }
  const undecided: Undecided = {
    format: 'conformance-report/1',
    suite: {
      name: 'ai-content-conformance',
      version: '0.1.0',
      specVersion: '1.0',
      specDigest: digest('a'),
      requirementsDigest: digest('b'),
    },
    target: { name: 'Example', baseUrl: 'https://example.com', digest: digest('c') },
    run: facts,
    verdict: verdictOf(requirements, facts),
    summary: summarize(requirements),
    requirements,
  }
  return decided(undecided, options)
}
