import { shareAtEnd } from '../../catalogue/faults.ts'
import { operation as operationOf } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { type HttpResponse, isGranted, jsonValue } from '../engine/response.ts'
import type { Exchange } from '../engine/exchange.ts'
import { perRun, type RunHook, type Run } from '../engine/run.ts'

/** Longest id that is put into a path, in UTF-16 units: far above what any server gives, far below what makes a request line. */
const longest = 1024

/**
 * An id that a target gave, if it can be part of the path of a request: not empty, not endless, no lone surrogate (which
 * has no percent-encoding), and neither `.` nor `..`, which would ask for another path, to clean up for instance.
 */
export function usableId(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '' || id.length > longest) return undefined
  return id === '.' || id === '..' || /\p{Cs}/u.test(id) ? undefined : id
}

/** A text or a number of JSON. */
const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The body as JSON, whole numbers of 16 digits and more as texts: JavaScript would round an id of 64 bits. */
function unrounded(response: HttpResponse): unknown {
  const text = response.text(response.size)
  return JSON.parse(text.replaceAll(scalar, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token))) as unknown
}

/** The id of the object that a granted creation made, read where the target file says; undefined if there is none. */
export function createdId(run: Run, exchange: Exchange): string | undefined {
  const { response, probe } = exchange
  if (!response || probe.operation === null || !isGranted(response)) return undefined
  const place = run.target.operations[probe.operation]?.fields['id'] ?? operationOf(probe.operation).creates?.idAt
  const id = place === undefined ? undefined : getAt(jsonValue(response), place)
  if (typeof id !== 'number') return usableId(id)
  return usableId(String(Number.isSafeInteger(id) ? id : getAt(unrounded(response), place!)))
}

/** Creations whose id another one gave before, though what it made was something else: of the same bytes, it may be the same. */
export const twinsOf = perRun(() => ({ bodies: new Map<string, string | Uint8Array>(), found: [] as Exchange[] }))

function noteTwin(run: Run, id: string, exchange: Exchange): void {
  const { bodies, found } = twinsOf(run)
  const { operation, body = '' } = exchange.probe
  const name = `${operation} ${id}`
  const first = bodies.get(name)
  if (first === undefined) bodies.set(name, body)
  else if (Buffer.compare(Buffer.from(first), Buffer.from(body)) !== 0) found.push(exchange)
}

const generatedIn = perRun(() => ({ count: 0 }))

/** How much one of the operations that generate may still make a target generate at the end of a run. */
export function generationsLeft(run: Run): number {
  return shareAtEnd(run.target, generatedIn(run).count)
}

/** Notes what the run creates, for the report and the clean-up, and how much it generates. */
export const createdHook: RunHook = {
  observe(run, exchange) {
    const { operation, creates, effect } = exchange.probe
    if (effect === 'generates' && exchange.response && isGranted(exchange.response)) generatedIn(run).count++
    if (operation === null || !operationOf(operation).creates) return
    const id = createdId(run, exchange)
    if (id === undefined) return
    if (operationOf(operation).busy === undefined) noteTwin(run, id, exchange)
    run.objects.takenIds.add(id.toLowerCase())
    run.objects.madeAt.set(id, exchange.endedAt)
    run.objects.created.push({ operation, id, ...(creates === undefined ? {} : { name: creates }) })
  },
}
