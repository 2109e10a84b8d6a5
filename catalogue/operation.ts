export const jsonKinds = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
export type JsonKind = (typeof jsonKinds)[number]

export type Effect = 'none' | 'generates' | 'creates' | 'destroys'

/** `type`: another type; `empty`: an empty text; `value`: an excluded one of its type; `unknown`: such an id. */
export type MemberFault = 'absent' | 'null' | 'type' | 'empty' | 'value' | 'unknown'

/**
 * The condition for a member that a request needs to be meaningful, though the spec does not call it required (§7.2).
 */
export const missingMember = '4xx-missing-member'

export interface Member {
  /**
   * Its place in the body: a JSON Pointer, `*` for each array item. `{role}` at the beginning means that the spec shows
   * no place: the target file declares the pointer of that role, and members below move with it.
   */
  readonly at: string
  /** The types that the spec shows, if any. */
  readonly kinds: readonly JsonKind[]
  /** A server may accept these too. */
  readonly tolerates?: readonly JsonKind[]
  readonly section: string
  /** Its name in `fields` of the target file, which may declare another place. */
  readonly role?: string
  /** The documented shape has it, or each existing item does. */
  readonly required?: true
  /** The condition that shows whether the target supports this part of the body. */
  readonly supportedIf?: string
  /** Only items with this `type` have it. */
  readonly ofType?: string
  readonly allowed?: readonly string[]
  /** Its value is one of the target's own (a model, a role), and no other one begins like it. */
  readonly isChosen?: true
  /** The id of an object, or the name of an input: an unknown one has the shape of the declared one. */
  readonly isId?: true
  /** The object is a file, so a deleted one is unknown. */
  readonly isFile?: true
  /** Its maximum length is not documented (§2.5, §7.3, §8). */
  readonly isLimited?: true
  readonly shows?: string
  /** The condition that judges each fault; others are judged by `bad-input-no-5xx`. */
  readonly judgedBy?: Readonly<Partial<Record<MemberFault, string>>>
  /** Some accepted values. */
  readonly inside?: readonly unknown[]
  readonly outside?: readonly unknown[]
  /** The place in an example to paste, for a role without a place of its own. */
  readonly exampleAt?: string
  /** Further members that an example to paste needs for it. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly declaredAt?: string
  /** A valid request has it only for a requirement about it. */
  readonly isExtra?: true
  readonly component?: string
  readonly description?: string
}

/** A member as listed. Defaults: a string; §2.8 if the spec shows its place, §7.3 if not; the role is its name. */
export type WrittenMember = Omit<Member, 'kinds' | 'section'> &
  Partial<Pick<Member, 'kinds' | 'section'>>

/** A query member or header that the spec names. */
export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'header'
  readonly description: string
  readonly declaredAt?: string
}

interface PathParameter {
  readonly declaredAt: string
  /** One of these must be declared; default: `declaredAt`. */
  readonly needs?: readonly string[]
  readonly format?: 'uuid'
  /** Objects of other kinds in the target file, whose ids are unknown here. */
  readonly others: readonly string[]
}

/** How a created object is used: by its id in the path, or at a role of the body. */
type Use =
  | { readonly operation: string; readonly param: string }
  | { readonly operation: string; readonly role: string }

/** The object that an operation creates, if it has an id. */
interface Creates {
  /** In a sentence: `a graph`. */
  readonly what: string
  /** Of the new id, in the response. */
  readonly idAt: string
  /** The spec does not show it: the target file may declare another, as `fields.id`. */
  readonly idMayMove?: true
  readonly name?: { readonly role: string } | { readonly header: string }
  /** §7.3: an existing name is refused. */
  readonly hasUniqueName?: true
  readonly usedBy: readonly Use[]
}

export interface Reads<Id extends string = string> {
  readonly declaredAt: string
  readonly madeBy: Id
  /** Poll interval until it ends, in ms. */
  readonly everyMs: number
}

export type ErrorTable = readonly (readonly [status: number, ...tpe: string[]])[]

export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path template, with parameters in braces, relative to the base URL. */
  readonly path: string
  /** §4.4 */
  readonly otherPaths: readonly string[]
  readonly params?: Readonly<Record<string, PathParameter>>
  /** `json` is required; `raw`: the bytes of a file. */
  readonly body: 'json' | 'raw' | 'none'
  readonly section: string
  readonly summary: string
  readonly description?: string
  /** §9: removed, or may be. */
  readonly deprecated?: true
  readonly parameters?: readonly Parameter[]
  /** The body in the OpenAPI document; absent without documented members. */
  readonly request?: { readonly component: string; readonly description: string }
  /** What the spec names or describes of the body. */
  readonly members: readonly Member[]
  /** The spec shows the whole body, so the target file declares none. */
  readonly isWhole?: true
  /** An example body to paste, with `<placeholders>`. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly effect: Effect
  readonly creates?: Creates
  /** Name of the schema (in `schemas/`) of its success; absent if the spec shows none. */
  readonly response?: string
  /** §4.1 to §4.3 show its whole success, which is JSON. */
  readonly showsSuccess?: true
  /** The first request of a run: any target answers it somehow. */
  readonly isFirst?: true
  /** §8: the object in its path handles one request at a time, and refuses others with that status. */
  readonly busy?: number
  /** §7.3: the types of its errors; absent without a row. */
  readonly errors?: ErrorTable
  /** §7.3: refuses a valid request whose effect already exists. */
  readonly alreadyDone?: readonly [status: number, tpe: string]
  /** Extra members that a request needs before it can have a query_config. */
  readonly settingsWith?: readonly string[]
  /** It reads an object that the target declares at this pointer, or that another operation's control creates. */
  readonly reads?: Reads
  /** Each request names a newly uploaded file at this role of its body. */
  readonly freshFileAt?: string
}

export function examplePlace(member: Member): string {
  return member.exampleAt ?? (member.at.startsWith('/') ? member.at : `/${member.at.slice(1, -1)}`)
}

export function roleOf(member: Member): string | undefined {
  return member.role ?? /^\{(\w+)\}$/.exec(member.at)?.[1]
}

/** The wrong types for a member, except `null`, which may mean absence. */
export function otherKinds({ kinds, tolerates = [] }: Member): JsonKind[] {
  const right = ['null', ...kinds, ...tolerates]
  return kinds.length === 0 ? [] : jsonKinds.filter((kind) => !right.includes(kind))
}

/**
 * The place of the member in the target's bodies, `*` for each item; undefined if it must be declared and is not.
 * @param fields declared pointers by role
 */
export function placeOf(
  members: readonly Member[],
  member: Member,
  fields: Readonly<Record<string, string>>,
): string | undefined {
  const [prefix, role] = /^\{(\w+)\}/.exec(member.at) ?? []
  const above = prefix
    ? { role, at: prefix }
    : members.find((one) => one.role !== undefined && `${member.at}/`.startsWith(`${one.at}/`))
  const declared = above?.role === undefined ? undefined : fields[above.role]
  if (above && declared !== undefined) return declared + member.at.slice(above.at.length)
  return prefix ? undefined : member.at
}

/** §2.7: the members of `query_config`, their bounds and defaults. */
export interface QueryConfigMember {
  readonly name: string
  readonly kind: 'boolean' | 'integer' | 'fraction'
  /** Accepted values: the bounds, and one between. */
  readonly inside: readonly unknown[]
  /** Just outside the bounds, common values for "no limit", and far away; empty if bounds are only recommended. */
  readonly outside: readonly number[]
  readonly range?: readonly [number, number]
  readonly default?: number
}

const far = [70_000, 2 ** 31, -(2 ** 31)]
/** Out of range, but in range after a cast to 32 bits. */
const wrapped = (inside: number): number => 2 ** 32 + inside
const none = -1
const ofFraction = [-0.01, 1.01, -0.5, 1.5, none, ...far]

// oxfmt-ignore
export const queryConfigMembers: readonly QueryConfigMember[] = [
  { name: 'inline_citations',   kind: 'boolean',  inside: [true, false],      outside: [] },
  { name: 'search_weight',      kind: 'integer',  inside: [0, 100, 50],       outside: [-1, 101, ...far, wrapped(50)], range: [0, 100], default: 50 },
  { name: 'max_subquestions',   kind: 'integer',  inside: [1, 10, 6],         outside: [0, 11, none, ...far, wrapped(6)], range: [1, 10], default: 6 },
  { name: 'grounding_level',    kind: 'fraction', inside: [0, 1, 0.5],        outside: ofFraction, range: [0, 1], default: 0 },
  // 5 to 25 is recommended and the default is 30: other values may be accepted or refused.
  { name: 'max_snippets',       kind: 'integer',  inside: [5, 25, 30],        outside: [],          range: [5, 25], default: 30 },
  { name: 'max_tokens',         kind: 'integer',  inside: [100, 8000, 4000],  outside: [99, 8001, 0, none, ...far, wrapped(4000)], range: [100, 8000], default: 4000 },
  { name: 'keyword_threshold',  kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
  { name: 'semantic_threshold', kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
]

/** In so many configurations each bound of a member meets each bound of every other. */
export const togetherCases = 6

export function queryConfigIn(
  at: string,
  exampleAt: string,
  example: Member['example'] = {},
): Member[] {
  const type = '400-query-config'
  const section = '2.7'
  const judgedBy = { type }
  return [
    {
      at,
      kinds: ['object'],
      tolerates: ['boolean'],
      section,
      judgedBy,
      exampleAt,
      example,
      component: 'QueryConfig',
    },
    ...queryConfigMembers.map(({ name, kind, inside, outside }): Member => {
      // Lenient conversions: a boolean for a number and a number for a boolean are only checked for a 5xx.
      const [own, lenient] =
        kind === 'boolean' ? (['boolean', 'number'] as const) : (['number', 'boolean'] as const)
      const value = outside.length > 0 ? { value: type } : {}
      const bounds = { judgedBy: { type, ...value }, inside, outside }
      return { at: `${at}/${name}`, kinds: [own], tolerates: [lenient], section, ...bounds }
    }),
  ]
}
