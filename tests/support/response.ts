import { HttpResponse } from '../../harness/journal/exchange.ts'

/** An answer as a run reads it. */
export function responseOf(
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  cut = false,
): HttpResponse {
  const lines = Object.entries(headers).map(([name, value]) => ({ name, value }))
  return new HttpResponse({ status, headers: lines, body: Buffer.from(body), cut })
}
