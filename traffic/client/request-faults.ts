import {
  operation as operationOf,
  type OperationId,
  operations,
} from '../../catalogue/operations.ts'
import { type HeaderLine, headerValue } from '../../harness/http/index.ts'
import { isUuid } from '../../schemas/formats.ts'
import { parsedJson, getAt, member } from '../../schemas/json.ts'
import { type OperationPlace, operationAt } from '../base-url.ts'
import type { RecordedEntry } from '../recorded-entry.ts'
import { type MemberFault, memberFaults, configsIn } from './member-faults.ts'

/** Finds what of a request does not keep the interface. */
export type RequestFault =
  | MemberFault
  /** `hint`: a path of the interface that is nearly the same. */
  | { readonly rule: 'path'; readonly hint: string | undefined }
  | { readonly rule: 'method'; readonly shown: readonly string[] }
  | {
      readonly rule: 'path-parameter'
      readonly name: string
      readonly received: string
      readonly problem: 'not-uuid' | 'no-value'
    }
  | {
      readonly rule: 'query'
      readonly name: string
      readonly problem: 'dot' | 'repeated' | 'other'
    }
  | { readonly rule: 'authorization'; readonly problem: 'absent' | 'other-scheme' | 'no-key' }
  | {
      readonly rule: 'content-type'
      readonly problem: 'not-json' | 'form'
      readonly received: string | undefined
    }
  | { readonly rule: 'content-disposition'; readonly received: string }
  | { readonly rule: 'body'; readonly problem: 'absent' | 'not-json' | 'not-utf-8' | 'unexpected' }

/** A request as it is judged; the path is that under the base URL, without its query. */
export interface SentRequest extends Pick<
  RecordedEntry,
  'method' | 'requestHeaders' | 'requestBody'
> {
  readonly path: string
  readonly query: URLSearchParams
  /** Its answer was a success: its path, and the ids in it, are some. */
  readonly isGranted?: boolean
}

/** The operation that a request is for. §4.4 also lists the path of `pdf.parse` without an id, and shows nothing of it. */
export function placeOf({ method, path }: SentRequest): OperationPlace | 'listed' | undefined {
  if (method === 'POST' && path === '/v1/tools/pdf-parser') return 'listed'
  return operationAt(method, path)
}

/** All that is wrong with a request by itself; empty if it keeps the interface, or if nobody can tell. */
export function requestFaults(request: SentRequest): RequestFault[] {
  const place = placeOf(request)
  // A server may well have more than the interface shows.
  if (place === undefined) return request.isGranted === true ? [] : [unknownPlace(request)]
  const authorization = authorizationFault(request.requestHeaders)
  if (place === 'listed') return authorization
  return [
    ...authorization,
    ...parameterFaults(place, request),
    ...queryFaults(place.operation, request.query),
    ...contentFaults(place.operation, request),
  ]
}

function unknownPlace({ method, path }: SentRequest): RequestFault {
  const shown = [...new Set(operations.map((one) => one.method))].filter((other) =>
    operationAt(other, path),
  )
  if (shown.length > 0) return { rule: 'method', shown }
  const single = path.replaceAll(/\/{2,}/g, '/').replace(/\/$/, '')
  const near = [single, single.toLowerCase(), single.replace(/^(?:\/v1)+/, '/v1'), `/v1${single}`]
  return {
    rule: 'path',
    hint: near.find((other) => other !== path && operationAt(method, other) !== undefined),
  }
}

/** Words that programs put in the place of a value that they do not have. */
const noValue = /^(null|undefined|none|nil|nan|\[object \w+\]|\$\{?\w*\}?|\{+\w*\}+|:\w+|<[^>]*>)$/i

/** §5.1. Whether a key opens anything is the server's to say. */
function authorizationFault(headers: readonly HeaderLine[]): RequestFault[] {
  const fault = (problem: 'absent' | 'other-scheme' | 'no-key'): RequestFault[] => [
    { rule: 'authorization', problem },
  ]
  const value = headerValue(headers, 'authorization')
  if (value === undefined) return fault('absent')
  const [, scheme = '', key = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(value) ?? []
  if (scheme.toLowerCase() !== 'bearer') return fault('other-scheme')
  return key === '' || noValue.test(key) ? fault('no-key') : []
}

function parameterFaults(
  { operation, params }: OperationPlace,
  { isGranted = false }: SentRequest,
): RequestFault[] {
  return Object.entries(operationOf(operation).params ?? {}).flatMap(
    ([name, { format }]): RequestFault[] => {
      const received = params[name] ?? ''
      const fault = { rule: 'path-parameter', name, received } as const
      if (!isGranted && noValue.test(received)) return [{ ...fault, problem: 'no-value' }]
      return format === 'uuid' && !isUuid(received) ? [{ ...fault, problem: 'not-uuid' }] : []
    },
  )
}

/** §2.8: file extensions in one text, separated by commas, without the dot. */
function queryFaults(id: OperationId, query: URLSearchParams): RequestFault[] {
  const name = 'file_types'
  const values = id === 'files.list' ? query.getAll(name) : []
  const fault = (problem: 'dot' | 'repeated' | 'other'): RequestFault[] => [
    { rule: 'query', name, problem },
  ]
  if (values.length > 1) return fault('repeated')
  const [value = ''] = values
  if (/(?:^|,)\s*\./.test(value)) return fault('dot')
  // Media types, other separators, lists of JSON: no extension holds such a character.
  return /[/;|[\]"*]/.test(value) ? fault('other') : []
}

const mediaType = (value: string | undefined): string =>
  (value ?? '').split(';')[0]!.trim().toLowerCase()

function contentFaults(
  id: OperationId,
  { requestBody, requestHeaders }: SentRequest,
): RequestFault[] {
  const { body, isWhole } = operationOf(id)
  const { bytes, state } = requestBody
  if (body === 'raw') return uploadFaults(requestHeaders)
  const isEmpty = state === 'whole' && bytes.length === 0
  // §4.3 shows none; of the other readings nothing is said.
  if (body === 'none')
    return id === 'jobs.retrieve' && !isEmpty ? [{ rule: 'body', problem: 'unexpected' }] : []
  if (isEmpty) return isWhole ? [{ rule: 'body', problem: 'absent' }] : []
  const received = headerValue(requestHeaders, 'content-type')
  const isLabelled = mediaType(received) === 'application/json'
  const label: RequestFault[] = isLabelled
    ? []
    : [{ rule: 'content-type', problem: 'not-json', received }]
  if (state !== 'whole') return label
  const parsed = parse(bytes)
  if ('problem' in parsed) return isLabelled ? [{ rule: 'body', problem: parsed.problem }] : label
  return [...label, ...memberFaults(id, parsed.value)]
}

/** The JSON of a request's body; undefined if it is none, or not known whole. */
export function bodyOf({ requestBody: { bytes, state } }: SentRequest): unknown {
  if (state !== 'whole') return undefined
  const parsed = parse(bytes)
  return 'value' in parsed ? parsed.value : undefined
}

/** RFC 8259 §8.1: JSON is UTF-8, without a byte order mark. */
function parse(
  bytes: Uint8Array,
): { readonly value: unknown } | { readonly problem: 'not-json' | 'not-utf-8' } {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { problem: 'not-utf-8' }
  }
  const value = parsedJson(text)
  return value === undefined ? { problem: 'not-json' } : { value }
}

/** §2.8: an attachment with its filename, labelled with the media type of the file. That either header must be there is not said. */
function uploadFaults(headers: readonly HeaderLine[]): RequestFault[] {
  const received = headerValue(headers, 'content-type')
  const form: RequestFault[] =
    mediaType(received) === 'multipart/form-data'
      ? [{ rule: 'content-type', problem: 'form', received }]
      : []
  const disposition = headerValue(headers, 'content-disposition')
  const isAttachment =
    disposition === undefined || /^\s*attachment\s*;.*\bfilename\*?\s*=/is.test(disposition)
  return isAttachment ? form : [...form, { rule: 'content-disposition', received: disposition }]
}

/** What of a request is legal, and bad. */
export type RequestRemark =
  /** §2.8 shows the header; that it must be there is not said. */
  | { readonly rule: 'no-attachment' }
  /** §2.7: the bounds are recommended. */
  | { readonly rule: 'recommended'; readonly at: string; readonly received: number }
  /** §2.8: a placeholder of the prompt that no variable fills. */
  | { readonly rule: 'no-variable'; readonly name: string }

/** Finds what of a request of the interface is legal, and bad. */
export function requestRemarks(request: SentRequest): RequestRemark[] {
  const place = placeOf(request)
  if (place === undefined || place === 'listed') return []
  if (place.operation === 'files.upload')
    return headerValue(request.requestHeaders, 'content-disposition') === undefined
      ? [{ rule: 'no-attachment' }]
      : []
  const body = bodyOf(request)
  return [
    ...snippets(body),
    ...(place.operation === 'vision.analyze' ? emptyPlaceholders(body) : []),
  ]
}

function snippets(body: unknown): RequestRemark[] {
  return configsIn(body).flatMap((config): RequestRemark[] => {
    const at = `${config}/max_snippets`
    const received = getAt(body, at)
    const isOutside = typeof received === 'number' && (received < 5 || received > 25)
    return isOutside ? [{ rule: 'recommended', at, received }] : []
  })
}

function emptyPlaceholders(body: unknown): RequestRemark[] {
  const prompt = member(body, 'prompt')
  const variables = member(body, 'variables')
  const names = (Array.isArray(variables) ? variables : []).map((one) => member(one, 'name'))
  const placeholders = typeof prompt === 'string' ? prompt.matchAll(/\{\{\s*([^{}]+?)\s*\}\}/g) : []
  return [...placeholders].flatMap(([, name = '']) =>
    names.includes(name) ? [] : [{ rule: 'no-variable' as const, name }],
  )
}

/** The path of the interface that a path outside `/v1` may mean; undefined if there is none. */
export function pathMeant({
  method,
  path,
}: Pick<SentRequest, 'method' | 'path'>): string | undefined {
  const hint = `/v1${path.replace(/\/+$/, '')}`
  return operationAt(method, hint) === undefined ? undefined : hint
}
