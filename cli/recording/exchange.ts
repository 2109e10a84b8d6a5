import { performance } from 'node:perf_hooks'
import { unescape } from 'node:querystring'
import { type Exchange, HttpResponse } from '../../harness/journal/index.ts'
import { curlOf, recordBody, recordHeaders, type Shown } from '../../harness/recording/recorder.ts'
import {
  type Redactor,
  isAuthorization,
  isSecretName,
  passwordIn,
  redacted,
  secretsInQuery,
  shortestKey,
} from '../../harness/recording/redactor.ts'
import type { FailureExchange, RecordedRequest } from '../../harness/report/index.ts'
import type { HarBody, RecordedEntry } from './read-har.ts'
import { operations } from '../../catalogue/operations.ts'
import { type HeaderLine, isNamed } from '../../harness/http/index.ts'

export interface EntryExchange extends Exchange {
  readonly response: NonNullable<Exchange['response']>
  readonly entry: RecordedEntry
}

export function exchangeOf(entry: RecordedEntry, path: string, redactor: Redactor): EntryExchange {
  const place = operationAt(entry.method, path)
  // An entry without a time is neither before nor after another.
  const sentAt = (entry.startedAt ?? NaN) - performance.timeOrigin
  const endedAt = sentAt + entry.durationMs
  const { status, headers, body } = entry
  const query = new URL(entry.url).searchParams
  let recorded: FailureExchange | undefined
  return {
    entry,
    probe: {
      operation: place?.operation ?? null,
      method: entry.method,
      path: place?.path ?? path,
      params: place?.params ?? {},
      query: Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)])),
      headers: entry.requestHeaders,
      // Only the answer shows that a key was wrong.
      credential: {
        ...keyIn(entry.requestHeaders),
        shown: '',
        full: status !== 401 && status !== 403,
      },
      ...(entry.requestBody.state === 'whole' && { body: entry.requestBody.bytes }),
      effect: 'none',
    },
    purpose: {
      requirement: null,
      role: 'probe',
      // A truncated body cannot be an envelope, and answers outside the interface need not be one.
      ...((!place || body.state !== 'whole') && { skipJudging: 'envelope' }),
    },
    response: new HttpResponse({ status, headers, body: body.bytes, cut: body.state !== 'whole' }),
    throttled: false,
    // Nothing came from the server, which may have done what was asked for.
    isOfGateway: status === 502 || status === 504,
    recorded: () => (recorded ??= shownEntry(entry, redactor)),
    sentAt,
    endedAt,
  }
}

/** The key of a request, or the cookie in its place; empty for another secret: nobody knows then. */
function keyIn(headers: readonly HeaderLine[]): { readonly value?: string } {
  const own =
    headers.find((line) => isAuthorization(line.name)) ??
    headers.find((line) => isNamed(line, 'cookie'))
  if (own) return { value: own.value }
  return headers.some((line) => isSecretName(line.name)) ? { value: '' } : {}
}

export function shownEntry(entry: RecordedEntry, redactor: Redactor): FailureExchange {
  const shown: Shown = (line) => ({
    name: redactor.text(line.name.toLowerCase()),
    value: shownHeader(line, redactor),
  })
  const request: RecordedRequest = {
    method: redactor.text(entry.method),
    url: shownUrl(entry.url, redactor),
    headers: recordHeaders(entry.requestHeaders, shown),
    ...shownBody(entry.requestBody, redactor),
  }
  const { status, headers, body } = entry
  const response = { status, headers: recordHeaders(headers, shown), ...shownBody(body, redactor) }
  return { request, response, curl: curlOf(request, new Set(['authorization'])) }
}

function shownBody({ state, bytes, length }: HarBody, redactor: Redactor) {
  const recorded = recordBody(bytes, (text) => redactor.text(withoutSecretMembers(text)))
  if (state === 'whole') return recorded
  const { bodySha256: _ofTheRest, ...rest } = recorded
  return { ...rest, ...(length !== undefined && { bodyLength: length }) }
}

/** The most frequent text before `/v1/` in requests to operations; undefined if there is none. */
export function likeliestBaseUrl(entries: readonly RecordedEntry[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { method, url } of entries) {
    const { origin = '', pathname = '' } = parsedUrl(url) ?? {}
    for (const { index } of pathname.matchAll(/\/v1(?=\/)/g)) {
      const base = origin + pathname.slice(0, index)
      if (operationAt(method, pathname.slice(index))) counts.set(base, (counts.get(base) ?? 0) + 1)
    }
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0]
}

/** The path below the base URL (which has no trailing slash); undefined if the URL is not below it. */
export function pathUnder(baseUrl: string, url: string): string | undefined {
  const { origin = '', pathname = '' } = parsedUrl(url) ?? {}
  const whole = origin + pathname
  return whole.startsWith(`${baseUrl}/`) ? whole.slice(baseUrl.length) : undefined
}

const parsedUrl = (url: string): URL | undefined => (URL.canParse(url) ? new URL(url) : undefined)

const templates = operations.flatMap(({ id, method, path, otherPaths }) =>
  [path, ...otherPaths].map((template: string) => {
    const pattern = new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
    return { id, method, template, pattern }
  }),
)

export function operationAt(method: string, path: string) {
  for (const { id, method: of, template, pattern } of templates) {
    const found = method === of ? pattern.exec(path) : null
    if (!found) continue
    const params: Record<string, string> = {}
    for (const [name, segment] of Object.entries(found.groups ?? {}))
      params[name] = unescape(segment)
    return { operation: id, path: template, params }
  }
  return undefined
}

/** Placeholders for keys in our own reports: not secrets. */
export const placeholder = /^(\$[A-Z_][A-Z0-9_]*|\$\{[A-Z_][A-Z0-9_]*[^}]*\}\w*|\[[^\]]*\])$/

/** Hides every credential of the recording, also those sent elsewhere. */
export function learnSecrets(redactor: Redactor, entries: readonly RecordedEntry[]): void {
  const secrets = new Set(entries.flatMap((entry) => [...credentialsIn(entry)]))
  for (const secret of secrets)
    if (secret !== '' && !placeholder.test(secret)) redactor.add(secret, redacted)
}

function* credentialsIn(recordedEntry: RecordedEntry): Generator<string> {
  for (const { name, value } of recordedEntry.requestHeaders) {
    if (isAuthorization(name)) yield* credentialsOf(value)
    // Many cookies are not secrets: they are hidden only in their headers.
    else if (isSecretName(name) && !/cookie/i.test(name) && value.length >= shortestKey) yield value
  }
  for (const value of secretsInQuery(recordedEntry.url))
    if (value.length >= shortestKey) yield value
}

/** The secrets in a header value: the part after the scheme, or all of it; for `Basic` also the password alone. */
function credentialsOf(value: string): string[] {
  const [, scheme = '', rest = value] = /^\s*(\S+)\s+(\S.*?)\s*$/s.exec(value) ?? []
  if (scheme.toLowerCase() !== 'basic') return rest === 'Bearer' ? [] : [rest]
  return [rest, ...passwordIn(rest)]
}

const secretMember =
  /("[\w-]*(?:passw(?:or)?d|secret|api[_-]?key|token)"\s*:\s*")((?:[^"\\]|\\.)+)(?=")/gi
const secretPair = /((?:^|&)[\w-]*(?:passw(?:or)?d|secret|api[_-]?key|token)=)([^&\s]+)/gi

export function withoutSecretMembers(text: string): string {
  const hidden = (whole: string, name: string, value: string): string =>
    placeholder.test(value) ? whole : name + redacted
  return text.replaceAll(secretMember, hidden).replaceAll(secretPair, hidden)
}

export function shownHeader(line: HeaderLine, redactor: Redactor): string {
  if (!isSecretName(line.name)) return redactor.header(line.value)
  if (!isAuthorization(line.name)) return redacted
  const [, scheme = '', rest = line.value] = /^\s*(\S+\s+)?(.*?)\s*$/s.exec(line.value) ?? []
  if (rest === '' || rest === 'Bearer' || placeholder.test(rest)) return line.value
  const shown = redactor.header(line.value)
  return shown.includes(rest) ? scheme + redacted : shown
}

/** A URL without user, password, fragment and keys in the query. */
export function shownUrl(address: string, redactor: Redactor): string {
  const url = new URL(address)
  const query = url.search
    .slice(1)
    .replaceAll(/([^&=]*)=[^&]*/g, (whole, name: string) =>
      isSecretName(name) ? `${name}=${redacted}` : whole,
    )
  return redactor.text(url.origin + url.pathname + (query === '' ? '' : `?${query}`))
}
