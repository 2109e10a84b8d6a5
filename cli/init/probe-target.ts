import { isObject } from '../../schemas/json-object.ts'

/** What one request for the list of files (§4.4) shows of a target. */
export interface Seen {
  /** In words, for the person who answers the questions. */
  readonly finding: string
  readonly reachable: boolean
  /** The target answered 404: it seems not to serve the list. */
  readonly listMissing: boolean
  readonly file?: string
  readonly pdfFile?: string
}

const TIMEOUT_MS = 5000

/** Asks `GET {base}/v1/files` once, with the key if there is one; never throws. */
export async function probeTarget(baseUrl: string, key: string | undefined, request = fetch): Promise<Seen> {
  const nothing = { reachable: false, listMissing: false }
  try {
    const response = await request(`${baseUrl.replace(/\/+$/, '')}/v1/files`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    const seen = { reachable: true, listMissing: response.status === 404 }
    return { ...seen, ...(response.ok ? filesIn(text) : {}), finding: findingOf(response, key !== undefined) }
  } catch (error) {
    const slow = error instanceof DOMException && error.name === 'TimeoutError'
    const why = slow ? `no answer within ${TIMEOUT_MS / 1000} s` : 'no connection'
    return { ...nothing, finding: `GET /v1/files: ${why}; the file is written anyway` }
  }
}

function findingOf(response: Response, withKey: boolean): string {
  const { status } = response
  const location = response.headers.get('location')
  if (status >= 300 && status < 400 && location) return `GET /v1/files redirects to ${location}: give that as base URL`
  if (response.ok) return `GET /v1/files answers ${status}${withKey ? ', the key is accepted' : ' without any key'}`
  if (status === 401) {
    return withKey
      ? 'GET /v1/files answers 401: the key is not accepted'
      : 'GET /v1/files asks for a key (401), as it should'
  }
  return `GET /v1/files answers ${status}`
}

/** Ids in the first list of objects with an `id`; the records of files are not shown by the interface (§2.8). */
function filesIn(text: string): Pick<Seen, 'file' | 'pdfFile'> {
  const records = recordsIn(parse(text)).filter((record) => typeof record.id === 'string' && record.id !== '')
  const pdf = records.find((record) => /application\/pdf|\.pdf"/i.test(JSON.stringify(record)))
  const [first] = records
  return { ...(first && { file: first.id as string }), ...(pdf && { pdfFile: pdf.id as string }) }
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  const lists = Array.isArray(value) ? [value] : Object.values(value ?? {}).filter((member) => Array.isArray(member))
  return (lists[0] ?? []).filter(isObject)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
