import type { HonoRequest } from 'hono'
import { Ending, type Answer, envelope, type Fault, lostAnswer } from './answer.ts'
import type { Key } from './keys.ts'
import type { World } from './world.ts'
import { neverGranted, otherName, otherStatus } from '../switches/pairs.ts'

/** Refusals that come late under `slow/refusals`: whoever was asked takes time to say no. */
const takeTime: ReadonlySet<string> = new Set([
  ...['completion.create/400-empty-prompt', 'translate.run/400-unsupported-language'],
  ...['jobs.create/404-unknown-application', 'files.retrieve/404-unknown-file'],
])

/**
 * The answer to a request that requirement `id` wants refused. A switch named like the requirement answers as if
 * nothing were wrong; `#status` and `#tpe` refuse with another status, or another code name of the same status,
 * `#granted-envelope` refuses in words only, with a 200; `#spoils-connection` refuses rightly, but answers the next request
 * of that connection wrongly.
 */
function refusal({ switches, pace }: World, id: string, fault: Fault, grant: () => Answer): Answer {
  if (switches.broken(id)) return neverGranted.has(id) ? envelope({ ...fault, ...otherStatus(id, fault) }) : grant()
  if (switches.broken(`${id}#status`)) return envelope({ ...fault, ...otherStatus(id, fault), key: 'fail.other' })
  if (switches.broken(`${id}#tpe`)) return envelope({ ...fault, tpe: otherName(id, fault), key: 'fail.other' })
  if (switches.broken(`${id}#5xx`)) return envelope({ status: 500, tpe: 'InternalServerError' })
  if (switches.broken(`${id}#granted-envelope`)) return envelope({ ...fault, status: 200 })
  const lost = lostAnswer(switches, id)
  if (lost) return lost
  const answer = envelope({ ...fault, ...switches.alternative(fault.at === undefined ? id : `${id}@${fault.at}`) })
  if (switches.broken(`${id}#spoils-connection`)) return { ...answer, spoils: true }
  return switches.varied('slow/refusals') && takeTime.has(id) ? { ...answer, afterMs: pace.slowRefusal } : answer
}

export type Members = Readonly<Record<string, unknown>>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An optional member that is left out; `null` in its place means the same. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** The JSON type of a value that a request may leave out, and whether `if (!value)` takes it for left out. */
export function kindsOf(value: unknown): readonly string[] {
  return value ? [jsonType(value)] : [jsonType(value), 'falsy']
}

/** The JSON type of a value, as a kind of fault. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

interface Details {
  readonly description?: string
  readonly extras?: Members
  readonly key?: string
  /** Which fault it is, if the spec allows one fault of the requirement more answers than the others. */
  readonly at?: string
  /** Which kind of fault it is, or kinds; a switch `#takes-<kind>` makes the server take just these for valid. */
  readonly kind?: string | readonly string[] | (() => string | readonly string[])
}

/** One request on its way through an operation. */
export class Call {
  readonly operation: string
  readonly request: HonoRequest
  readonly world: World
  /** The members of the JSON body, once it has been read. */
  body: Members = {}
  /** The bytes of the body, once they have been read. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array()
  /** Whose request it is, once that is known. */
  key: Key | undefined
  readonly #grant: (call: Call) => Answer

  constructor(operation: string, request: HonoRequest, world: World, grant: (call: Call) => Answer) {
    this.operation = operation
    this.request = request
    this.world = world
    this.#grant = grant
  }

  param(name: string): string {
    return this.request.param(name) ?? ''
  }

  /**
   * Refuses for a condition that has a requirement: `<status>-<condition>` of this operation, or a whole id if it
   * belongs to none. The switches of that requirement decide what is really answered.
   */
  refuse(condition: string, status: number, tpe: string, { kind = [], ...details }: Details = {}): never {
    const id = condition.includes('/') ? condition : `${this.operation}/${condition}`
    const { broken, hasSome } = this.world.switches
    if (hasSome(`${id}#takes-`)) {
      const kinds = typeof kind === 'function' ? kind() : kind
      if ([kinds].flat().some((each) => broken(`${id}#takes-${each}`))) throw new Ending(this.#grant(this))
    }
    throw new Ending(refusal(this.world, id, { status, tpe, ...details }, () => this.#grant(this)))
  }

  /** Refuses for a condition that no requirement is about. */
  reject(status: number, tpe: string, description?: string): never {
    throw new Ending(envelope({ status, tpe, ...(description === undefined ? {} : { description }) }))
  }

  broken(condition: string): boolean {
    return this.world.switches.broken(`${this.operation}/${condition}`)
  }

  varied(variant: string): boolean {
    return this.world.switches.varied(variant)
  }
}
