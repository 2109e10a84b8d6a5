import type { RecordedExchange, Report } from '../../harness/report/report-schema.ts'

/** `count` exchanges of a report, dealt to its requirements in turn; each body has about `bytes` characters. */
export function* sampleExchanges(
  report: Report,
  count: number,
  bytes = 400,
): Generator<RecordedExchange> {
  for (let n = 0; n < count; n++) {
    const { id, operation } = report.requirements[n % report.requirements.length]!
    const url = `https://staging.example.com/v1/applications/a-1/jobs?case=${n}`
    const body = JSON.stringify({ inputs: [{ id: 'topic', value: ['tea '.repeat(bytes / 8)] }], n })
    yield {
      n,
      requirement: id,
      operation,
      role: n % 3 ? 'probe' : 'control',
      startedAt: new Date(Date.UTC(2026, 2, 1, 12) + n * 15).toISOString(),
      durationMs: 12.5,
      httpVersion: '1.1',
      request: {
        method: 'POST',
        url,
        headers: {
          authorization: 'Bearer $CONFORM_API_KEY',
          'content-type': 'application/json',
          'accept-encoding': 'gzip',
        },
        body,
      },
      response: {
        status: 404,
        headers: {
          'content-type': 'application/json',
          date: 'Sun, 01 Mar 2026 12:00:00 GMT',
          'x-request-id': `r-${n}`,
        },
        body: JSON.stringify({
          tpe: 'ResourceNotFound',
          errors: [{ description: 'none '.repeat(bytes / 8) }],
          extras: {},
        }),
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
