import { operation as operationOf } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { type Exchange, type HttpResponse, isGranted, jsonValue } from '../engine/index.ts'
import type { Target } from '../target-file/index.ts'

/** Longest id that is put into a path, in UTF-16 units: far above what any server gives, far below what makes a request line. */
const longest = 1024

/**
 * An id that a target gave, if it can be part of the path of a request: not empty, not endless, no lone surrogate (which
 * has no percent-encoding), and neither `.` nor `..`, which would ask for another path, to clean up for instance.
 */
function usableId(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '' || id.length > longest) return undefined
  return id === '.' || id === '..' || /\p{Cs}/u.test(id) ? undefined : id
}

/** A text or a number of JSON. */
const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The body as JSON, whole numbers of 16 digits and more as texts: JavaScript would round an id of 64 bits. */
function unrounded(response: HttpResponse): unknown {
  const text = response.text(response.size)
  return JSON.parse(
    text.replaceAll(scalar, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)),
  ) as unknown
}

/** The id of the object that a granted creation made, read where the target file says; undefined if there is none. */
export function createdId(
  { target }: { readonly target: Target },
  exchange: Exchange,
): string | undefined {
  const { response, probe } = exchange
  if (!response || probe.operation === null || !isGranted(response)) return undefined
  const place =
    target.operations[probe.operation]?.fields['id'] ?? operationOf(probe.operation).creates?.idAt
  const id = place === undefined ? undefined : getAt(jsonValue(response), place)
  if (typeof id !== 'number') return usableId(id)
  return usableId(String(Number.isSafeInteger(id) ? id : getAt(unrounded(response), place!)))
}
