import type { OperationId } from '../../catalogue/operations.ts'
import { NotExercised } from './outcome.ts'
import type { Effect } from '../../catalogue/operation.ts'

/** An `Authorization` header: its value, and how it is written wherever it is shown. */
export interface Credential {
  /** Absent: no header at all. */
  readonly value?: string
  readonly shown: string
  /** True for the key with full rights: only its answers tell whether the key is accepted. */
  readonly full: boolean
}

export interface RequestHeader {
  readonly name: string
  readonly value: string
}

/** One request that the suite means to send, before the target's own headers and base URL are put to it. */
export interface Probe {
  /** Null: a path or method that the interface does not have. */
  readonly operation: OperationId | null
  readonly method: string
  /** Template with parameters in braces, or a path that is sent as it is. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly headers: readonly RequestHeader[]
  readonly credential: Credential
  readonly body?: string | Uint8Array
  /** Effect that it has on a conforming target: anything but `none` is never sent twice unasked. */
  readonly effect: Effect
  /** Name of the object that it would create, for clean-up. */
  readonly creates?: string
  /** The kind of its one fault, and where that is, as the fault matrix calls it. */
  readonly fault?: string | undefined
}

/** The declared headers, without those that `own` sets itself, and then its own. */
export function withOwn(declared: readonly RequestHeader[], own: readonly RequestHeader[]): RequestHeader[] {
  const names = new Set(own.map(({ name }) => name.toLowerCase()))
  return [...declared.filter(({ name }) => !names.has(name.toLowerCase())), ...own]
}

/** The path and query of the request line. */
export function pathOf(probe: Probe): string {
  const path = probe.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(probe.params[name] ?? ''))
  const query = queryOf(probe.query)
  return query === '' ? path : `${path}?${query}`
}

/** The members as they stand behind the question mark. */
export function queryOf(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
}

/** The probe's body as JSON; throws `NotExercised` if it is not JSON (a scenario may send bytes). */
export function jsonOf({ body }: Probe): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as unknown
  } catch {
    throw new NotExercised('the valid request has no JSON body to change')
  }
}

/** The probe with another JSON body. */
export function withJson(probe: Probe, body: unknown): Probe {
  return { ...probe, body: JSON.stringify(body) }
}

/** The probe with the same JSON value in another spelling (RFC 8259): white space, and names and texts that begin with an escape. */
export function respelled(probe: Probe): Probe {
  const spread = `${JSON.stringify(jsonOf(probe), null, 2)}\n`
  const escaped = spread.replaceAll(
    /(?<!\\)"([a-z])/gi,
    (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`,
  )
  return { ...probe, body: escaped }
}

/** The probe with that header in place of any of the same name; without it if `value` is undefined. */
export function withHeader(probe: Probe, name: string, value: string | undefined): Probe {
  const others = probe.headers.filter((header) => header.name.toLowerCase() !== name.toLowerCase())
  return { ...probe, headers: value === undefined ? others : [...others, { name, value }] }
}
