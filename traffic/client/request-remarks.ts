import { getAt, member } from '../../schemas/json.ts'
import { headerValue } from '../../harness/http/index.ts'
import { operationAt } from '../base-url.ts'
import { configsIn } from './member-faults.ts'
import { bodyOf, placeOf, type SentRequest } from './request-faults.ts'

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
