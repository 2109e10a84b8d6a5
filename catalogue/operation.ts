/** The members of an operation's record. The operations themselves: operations.ts. */

export const jsonKinds = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
export type JsonKind = (typeof jsonKinds)[number]

/** The effect of a granted request on a conforming target. */
export type Effect = 'none' | 'generates' | 'creates'

/**
 * Ways in which a member can be wrong: it is absent, null, of another type, an empty text, a value of its type that the spec
 * excludes, or the id of nothing.
 */
export type MemberFault = 'absent' | 'null' | 'type' | 'empty' | 'value' | 'unknown'

/** The condition of a member without which a request means nothing, though the spec does not call it required (§7.2). */
export const missingMember = '4xx-missing-member'

/** A member of the body of a request, as far as the spec tells of it. */
export interface Member {
  /**
   * Where it stands in the body: a JSON Pointer, `*` for each item of an array. If it begins with `{role}`, the spec
   * shows no place: the target file declares the pointer of that role. What stands below a role moves with it.
   */
  readonly at: string
  /** The types that the spec shows; none, if it shows no type. */
  readonly kinds: readonly JsonKind[]
  /** Types besides that a server may take: no fault. */
  readonly tolerates?: readonly JsonKind[]
  readonly section: string
  /** Name of the member in `fields` of the target file, which may say that it stands elsewhere. */
  readonly role?: string
  /** A request without it, or without it in an item that is there, has not the shape that the spec shows. */
  readonly required?: true
  /** The granted requirement, by its condition, that shows whether a target supports what it is part of. */
  readonly supportedIf?: string
  /** It belongs only to items whose member `type` is this. */
  readonly ofType?: string
  /** All values that the spec allows. */
  readonly allowed?: readonly string[]
  /** Its value is one of those that a target has: a model, a role, a language. What begins like one is none. */
  readonly isChosen?: true
  /** It is the id of an object, or the name of an input: an unknown one has the shape of the declared one. */
  readonly isId?: true
  /** That object is a file: one that was deleted is none any more. */
  readonly isFile?: true
  /** A text that may well be as long as a file: what limits it is not shown (§2.5, §7.3, §8). */
  readonly isLimited?: true
  /** A value that the spec shows among others. */
  readonly shows?: string
  /** The condition (an id without its operation) that names what is wrong; for the rest there is `bad-input-no-5xx`. */
  readonly judgedBy?: Readonly<Partial<Record<MemberFault, string>>>
  /** Values that are accepted: some if there are many. */
  readonly inside?: readonly unknown[]
  /** Values of its type that the spec excludes. */
  readonly outside?: readonly unknown[]
  /** The place in a body, for a role without a place of its own, in an example to paste. */
  readonly exampleAt?: string
  /** Members that a body to paste needs for it, besides those of the operation's example. */
  readonly example?: Readonly<Record<string, unknown>>
  /** The target file tells its value there: a JSON Pointer. */
  readonly declaredAt?: string
  /** A valid request has it only if a requirement is about it. */
  readonly isExtra?: true
  /** How it is called among the components of the OpenAPI document. */
  readonly component?: string
  readonly description?: string
}

/** A member of the query, or a header, that the spec names. */
export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'header'
  readonly section: string
  readonly description: string
  /** The place at which the target file names a value for it: a JSON Pointer. */
  readonly declaredAt?: string
}

interface PathParameter {
  /** The place at which the target file names the object: a JSON Pointer. */
  readonly declaredAt: string
  /** Places in the target file of which one has to be declared, if not just that: JSON Pointers. */
  readonly needs?: readonly string[]
  readonly format?: 'uuid'
  /** Objects of other kinds, whose ids are none here: pointers into the target file. */
  readonly others: readonly string[]
}

/** How a created object is used again: by its id in the path, or at a role of the body. */
type Use<Id extends string = string> =
  | { readonly operation: Id; readonly param: string }
  | { readonly operation: Id; readonly role: string }

/** The object that an operation creates, if it has an id. */
interface Creates<Id extends string = string> {
  /** `a graph`: what it is called in a sentence. */
  readonly what: string
  /** The place of the new id in the response: a JSON Pointer. */
  readonly idAt: string
  /** The spec does not show that place: the target file may declare another, as `fields.id`. */
  readonly idMayMove?: true
  /** The place at which the request names the object: a role of the body, or a header. Each object of a run gets a name of its own. */
  readonly name?: { readonly role: string } | { readonly header: string }
  /** §7.3: a name that another object has is refused. */
  readonly hasUniqueName?: true
  readonly usedBy: readonly Use<Id>[]
}

export interface Reads<Id extends string = string> {
  readonly declaredAt: string
  readonly madeBy: Id
  /** It is looked at until it ends, at last so often, in ms. */
  readonly everyMs: number
}

/** Statuses of errors, and the types that stand with each. */
export type ErrorTable = readonly (readonly [status: number, ...tpe: string[]])[]

/** `path` is the template that the spec shows; `otherPaths` are the alternatives that it also names. */
export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST'
  /** Path template, parameters in braces, relative to the base URL. */
  readonly path: string
  /** Alternative paths that the spec names for the same operation (§4.4). */
  readonly otherPaths: readonly string[]
  readonly params?: Readonly<Record<string, PathParameter>>
  /** `json`: a JSON body is required; `raw`: the bytes of a file; `none`: no body. */
  readonly body: 'json' | 'raw' | 'none'
  readonly section: string
  readonly summary: string
  readonly description?: string
  /** §9: it is, or may be, removed. */
  readonly deprecated?: true
  /** Query members and headers that the spec names. */
  readonly parameters?: readonly Parameter[]
  /** How the body is called among the components of the OpenAPI document, and what is shown of it; absent if no member is. */
  readonly request?: { readonly component: string; readonly description: string }
  /** The members of the body that the spec names, or whose meaning it names. */
  readonly members: readonly Member[]
  /** The spec shows the whole body: the target file declares none. */
  readonly isWhole?: true
  /** A body to paste; angle brackets are to be filled in. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly effect: Effect
  readonly creates?: Creates
  /** Name of the schema (in `schemas/`) of its success; absent if the spec shows none. */
  readonly response?: string
  /** §4.1 to §4.3 show its whole success, which is JSON. */
  readonly showsSuccess?: true
  /** The first request of a run: whatever a target serves, some answer to it tells that it is there. */
  readonly isFirst?: true
  /** §8: the object in its path takes one request at a time; with that status it refuses another meanwhile. */
  readonly busy?: number
  /** §7.3: its row, the types that its errors may have; absent if it has none. */
  readonly errors?: ErrorTable
  /** §7.3: what refuses a valid request whose effect is there already. */
  readonly alreadyDone?: readonly [status: number, tpe: string]
  /** Roles of the extra members without which a request has no place for a query_config. */
  readonly settingsWith?: readonly string[]
  /** It reads an object that the target declares at this pointer, or that the control of another operation makes. */
  readonly reads?: Reads
  /** Each request names a file that is uploaded first, at this role of its body. */
  readonly freshFileAt?: string
}

/** The place of a role's member in the body of an example to paste. */
export function examplePlace({ at, exampleAt }: Member): string {
  return exampleAt ?? (at.startsWith('/') ? at : `/${at.slice(1, -1)}`)
}

/** The role of a member; undefined if it has none. */
export function roleOf({ at, role }: Member): string | undefined {
  return role ?? /^\{(\w+)\}$/.exec(at)?.[1]
}

/** The types that a member may not have, `null` aside: it may mean that the member is absent. */
export function otherKinds({ kinds, tolerates = [] }: Member): JsonKind[] {
  const all = ['boolean', 'number', 'string', 'array', 'object'] as const
  return kinds.length === 0
    ? []
    : all.filter((kind) => !kinds.includes(kind) && !tolerates.includes(kind))
}

/**
 * Where the member stands in the bodies of a target, `*` for each item; undefined if that has to be declared, and is not.
 * @param fields the pointers that the target file declares, by role
 */
export function placeOf(
  members: readonly Member[],
  { at }: Member,
  fields: Readonly<Record<string, string>>,
): string | undefined {
  const [prefix = '', role = ''] = /^\{(\w+)\}/.exec(at) ?? []
  if (role !== '')
    return fields[role] === undefined ? undefined : fields[role] + at.slice(prefix.length)
  const above = members.find((one) => one.role !== undefined && `${at}/`.startsWith(`${one.at}/`))
  const declared = above?.role === undefined ? undefined : fields[above.role]
  return above && declared !== undefined ? declared + at.slice(above.at.length) : at
}

/** §2.7: the members of `query_config`, their bounds and defaults. */
export interface QueryConfigMember {
  readonly name: string
  readonly kind: 'boolean' | 'integer' | 'fraction'
  /** Values that are accepted: the bounds, and one between. */
  readonly inside: readonly unknown[]
  /** Values outside the bounds: by a unit, by a hundredth and a half for fractions, what often means that there is no limit, and far. Empty if the bounds are only recommended. */
  readonly outside: readonly number[]
  /** Range from which values inside are generated. */
  readonly range?: readonly [number, number]
  /** The default of the member; undefined if the spec does not say. */
  readonly default?: number
}

const far = [70_000, 2 ** 31, -(2 ** 31)]
/** Gives a value outside that a cast to 32 bits brings inside. */
const wrapped = (inside: number): number => 2 ** 32 + inside
const none = -1
const ofFraction = [-0.01, 1.01, -0.5, 1.5, none, ...far]

// oxfmt-ignore
export const queryConfigMembers: readonly QueryConfigMember[] = [
  { name: 'inline_citations',   kind: 'boolean',  inside: [true, false],      outside: [] },
  { name: 'search_weight',      kind: 'integer',  inside: [0, 100, 50],       outside: [-1, 101, ...far, wrapped(50)], range: [0, 100], default: 50 },
  { name: 'max_subquestions',   kind: 'integer',  inside: [1, 10, 6],         outside: [0, 11, none, ...far, wrapped(6)], range: [1, 10], default: 6 },
  { name: 'grounding_level',    kind: 'fraction', inside: [0, 1, 0.5],        outside: ofFraction, range: [0, 1], default: 0 },
  // 5 to 25 is recommended and the default is 30: what lies between, or beyond, may be accepted or refused.
  { name: 'max_snippets',       kind: 'integer',  inside: [5, 25, 30],        outside: [],          range: [5, 25], default: 30 },
  { name: 'max_tokens',         kind: 'integer',  inside: [100, 8000, 4000],  outside: [99, 8001, 0, none, ...far, wrapped(4000)], range: [100, 8000], default: 4000 },
  { name: 'keyword_threshold',  kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
  { name: 'semantic_threshold', kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
]

/** Configurations of all members at their bounds in which each bound of one meets each bound of every other. */
export const togetherCases = 6

const kinds = { boolean: 'boolean', integer: 'number', fraction: 'number' } as const
/** One may be made of the other: `true` for a number is sent for several members at once, and 1 for a boolean, to see no 5xx. */
const tolerates = { boolean: ['number'], number: ['boolean'] } as const

/** The configuration as a member of a request body, and its own members below it. */
export function queryConfigIn(
  at: string,
  exampleAt: string,
  example: Member['example'] = {},
): Member[] {
  const type = '400-query-config'
  return [
    {
      ...{ at, kinds: ['object'], tolerates: ['boolean'], section: '2.7', judgedBy: { type } },
      ...{ exampleAt, example, component: 'QueryConfig' },
    },
    ...queryConfigMembers.map(({ name, kind, inside, outside }): Member => {
      const own = kinds[kind]
      const judgedBy = outside.length > 0 ? { type, value: type } : { type }
      return {
        at: `${at}/${name}`,
        kinds: [own],
        tolerates: tolerates[own],
        section: '2.7',
        judgedBy,
        inside,
        outside,
      }
    }),
  ]
}
