import type { ExitOptions } from '../../harness/report/exit-code.ts'
import type { Failure, Report, RequirementResult } from '../../harness/report/report-schema.ts'
import { failure, report, result } from '../gates/results.ts'
import { sampleCatalogue } from './sample-catalogue.ts'

export interface SampleOptions {
  readonly size?: number
  /** How the result at that place of the catalogue ended; passed by default. */
  readonly end?: (at: number) => Partial<RequirementResult>
  readonly run?: Partial<Report['run']>
  readonly target?: Partial<Report['target']>
  readonly exit?: ExitOptions
}

/** A failure with its exchange; `actual` and the bodies carry the text. */
export function sampleFailure(
  id: string,
  text = '404 NotFound',
  change: Partial<Failure> = {},
): Failure {
  const url = 'https://staging.example.com/v1/applications/a-1/jobs'
  return failure({
    actual: text,
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
      request: {
        method: 'POST',
        url,
        headers: { authorization: 'Bearer $CONFORM_API_KEY' },
        body: '{"inputs":[]}',
      },
      response: {
        status: 404,
        headers: { 'content-type': 'application/json', 'x-note': text },
        body: JSON.stringify({ tpe: 'NotFound', errors: [{ description: text }], extras: {} }),
      },
      curl: `curl -X POST '${url}' -H "Authorization: Bearer $CONFORM_API_KEY" -d '{"inputs":[]}'`,
    },
    ...change,
  })
}

export const fails =
  (text?: string, change?: Partial<Failure>): SampleOptions['end'] =>
  () => ({ outcome: 'failed', failures: [sampleFailure('<id>', text, change)] })

/** Ends of every kind, by place: most pass, some fail, some were not exercised or are not applicable. */
export function mixed(at: number): Partial<RequirementResult> {
  if (at % 41 === 7) return { outcome: 'failed', failures: [sampleFailure('<id>')] }
  if (at % 13 === 5)
    return {
      outcome: 'not-exercised',
      reason: 'declare /scenarios/<id> in the target file',
      cases: 0,
    }
  if (at % 17 === 3)
    return { outcome: 'not-applicable', reason: 'vision.analyze is not served', cases: 0 }
  return {}
}

export function sampleReport({
  size = 290,
  end = () => ({}),
  run,
  target,
  exit,
}: SampleOptions = {}): Report {
  const requirements = sampleCatalogue(size).map((row, at): RequirementResult => {
    const ended = end(at)
    const failures = (ended.failures ?? []).map((one) => ({
      ...one,
      rerun: one.rerun.replace('<id>', row.id),
    }))
    const reason =
      ended.reason === undefined ? {} : { reason: ended.reason.replace('<id>', row.id) }
    return result(row.id, {
      ...row,
      control: 'granted',
      cases: 3,
      durationMs: 12,
      ...ended,
      failures,
      ...reason,
    })
  })
  const whole = report(
    requirements,
    { durationMs: 48_200, requests: 3012, throttled: 0, ...run },
    exit,
  )
  const own = { name: 'Example staging', baseUrl: 'https://staging.example.com', ...target }
  return { ...whole, target: { ...whole.target, ...own } }
}

/** A report whose texts are all that one: half of it failed, the other half was not tested. */
export function reportOfText(text: string, size = 40, run: SampleOptions['run'] = {}): Report {
  const failing = fails(text, { message: text, expected: text, rerun: text, path: text })
  const baseline = {
    file: text,
    expected: [text],
    stale: [{ id: text, why: text }],
    notExercised: [text],
  }
  return sampleReport({
    size,
    end: (at) =>
      at % 2 ? failing!(at) : { outcome: 'not-exercised', reason: text, statement: text },
    target: { name: text, baseUrl: text },
    run: { baseline, created: [{ operation: text, id: text, name: text }], ...run },
  })
}
