import pc from 'picocolors'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { ExitOptions } from '../../harness/report/verdict.ts'
import type { Failure, RecordedExchange, Report, RequirementResult } from '../../schemas/report.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { failure, report, result } from '../gates/results.ts'

const ids = catalogue.map(({ id }) => id).sort()

/** Passed requirements, `size` of them; every eighth is a recommendation. */
const sampleResults = (size: number): RequirementResult[] =>
  ids.slice(0, size).map((id, at) =>
    result(id, {
      ...{ section: '5, 7.1', control: 'granted', cases: 3, durationMs: 12 },
      level: at % 8 === 2 ? 'should' : 'must',
    }),
  )

/** So many exchanges of a report, dealt to its requirements in turn. */
export function* sampleExchanges(
  { requirements }: Report,
  count: number,
): Generator<RecordedExchange, undefined> {
  for (let n = 0; n < count; n++) {
    const { id, operation } = requirements[n % requirements.length]!
    const url = `https://staging.example.com/v1/applications/a-1/jobs?case=${n}`
    const body = JSON.stringify({ inputs: [{ id: 'topic', value: ['tea '.repeat(50)] }], n })
    const errors = [{ description: 'none '.repeat(50) }]
    const type = { 'content-type': 'application/json' }
    yield {
      ...{ n, requirement: id, operation, role: n % 3 ? 'probe' : 'control' },
      startedAt: new Date(Date.UTC(2026, 2, 1, 12) + n * 15).toISOString(),
      ...{ durationMs: 12.5, httpVersion: '1.1' },
      request: {
        ...{ method: 'POST', url, body },
        headers: { authorization: 'Bearer $CONFORM_API_KEY', ...type, 'accept-encoding': 'gzip' },
      },
      response: {
        status: 404,
        headers: { ...type, date: 'Sun, 01 Mar 2026 12:00:00 GMT', 'x-request-id': `r-${n}` },
        body: JSON.stringify({ tpe: 'ResourceNotFound', errors, extras: {} }),
      },
      curl: `curl -X POST '${url}' -H "Authorization: Bearer $CONFORM_API_KEY" -H 'content-type: application/json' -d '${body}'`,
    }
  }
}

/** The whole text of a renderer that gives it in pieces. */
export async function joined(pieces: string | AsyncIterable<string>): Promise<string> {
  if (typeof pieces === 'string') return pieces
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

export const inTerminal = (of: Report, options?: Parameters<typeof renderTerminal>[2]) =>
  renderTerminal(of, pc.createColors(false), options)

export const inHtml = (of: Report, exchanges: Iterable<RecordedExchange> = []) =>
  joined(renderHtml(of, exchanges))

interface SampleOptions {
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
  const headers = { authorization: 'Bearer $CONFORM_API_KEY' }
  const request = { method: 'POST', url, headers, body: '{"inputs":[]}' }
  return failure({
    ...{ actual: text, path: '0:1' },
    rerun: `conform https://staging.example.com --only ${id} --seed 421`,
    exchange: {
      request,
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
  (text?: string, change?: Partial<Failure>) => (): Partial<RequirementResult> => ({
    outcome: 'failed',
    failures: [sampleFailure('<id>', text, change)],
  })

/** Ends of every kind, by place: most pass, some fail, some were not exercised or are not applicable. */
export function mixed(at: number): Partial<RequirementResult> {
  if (at % 41 === 7) return fails()()
  const reason = 'declare resources.application'
  if (at % 13 === 5) return { outcome: 'not-exercised', reason, cases: 0 }
  if (at % 17 === 3)
    return { outcome: 'not-applicable', reason: 'vision.analyze is not served', cases: 0 }
  return {}
}

export function sampleReport(options: SampleOptions = {}): Report {
  const { size = ids.length, end, run, target, exit } = options
  const requirements = sampleResults(size).map((row, at): RequirementResult => {
    const { failures = [], ...ended }: Partial<RequirementResult> = end?.(at) ?? {}
    const own = (text: string) => text.replace('<id>', row.id)
    return {
      ...{ ...row, ...ended },
      failures: failures.map((one) => ({ ...one, rerun: own(one.rerun) })),
    }
  })
  const facts = { durationMs: 48_200, requests: 3012, throttled: 0, ...run }
  const whole = report(requirements, facts, exit)
  const own = { name: 'Example staging', baseUrl: 'https://staging.example.com', ...target }
  return { ...whole, target: { ...whole.target, ...own } }
}

/** A report whose texts are all that one: half of it failed, the other half was not tested. */
export function reportOfText(text: string, size = 40, run: SampleOptions['run'] = {}): Report {
  const failing = fails(text, { message: text, expected: text, rerun: text, path: text })
  const missed = { outcome: 'not-exercised', reason: text, statement: text } as const
  const stale = [{ id: text, why: text }]
  const baseline = { file: text, expected: [text], stale, notExercised: [text] }
  return sampleReport({
    size,
    end: (at) => (at % 2 ? failing() : missed),
    target: { name: text, baseUrl: text },
    run: {
      baseline,
      created: [{ operation: text, id: text, name: text }],
      cleanup: { removed: 0, left: [{ operation: text, id: text, why: text }] },
      ...run,
    },
  })
}
