import type { HonoRequest } from 'hono'
import { Ending, type Answer } from './answer.ts'
import { envelope } from './envelope.ts'
import type { Key } from './keys.ts'
import { refusal } from './refusal.ts'
import type { World } from './world.ts'

export type Members = Readonly<Record<string, unknown>>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
  readonly kind?: string | readonly string[]
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

  /** A path parameter. */
  param(name: string): string {
    return this.request.param(name) ?? ''
  }

  /**
   * Refuses for a condition that has a requirement: `<status>-<condition>` of this operation, or a whole id if it
   * belongs to none. The switches of that requirement decide what is really answered.
   */
  refuse(condition: string, status: number, tpe: string, { kind = [], ...details }: Details = {}): never {
    const id = condition.includes('/') ? condition : `${this.operation}/${condition}`
    const { broken } = this.world.switches
    if ([kind].flat().some((each) => broken(`${id}#takes-${each}`))) throw new Ending(this.#grant(this))
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
