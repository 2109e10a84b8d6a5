import { type Member, otherKinds } from './operation.ts'

/** §2.7: the members of `query_config`, their bounds and defaults. */
export interface QueryConfigMember {
  readonly name: string
  readonly kind: 'boolean' | 'integer' | 'fraction'
  /** Values that are accepted: the bounds, and one between. */
  readonly inside: readonly unknown[]
  /** Values outside the bounds: by a unit, by a hundredth and a half for fractions, and far. Empty if the bounds are only recommended. */
  readonly outside: readonly number[]
  /** Range from which values inside are generated. */
  readonly range?: readonly [number, number]
  /** The default of the member; undefined if the spec does not say. */
  readonly default?: number
}

const far = [70_000, 2 ** 31, -(2 ** 31)]
/** Gives a value outside that a cast to 32 bits brings inside. */
const wrapped = (inside: number): number => 2 ** 32 + inside
const ofFraction = [-0.01, 1.01, -0.5, 1.5, ...far]

// oxfmt-ignore
export const queryConfigMembers: readonly QueryConfigMember[] = [
  { name: 'inline_citations',   kind: 'boolean',  inside: [true, false],      outside: [] },
  { name: 'search_weight',      kind: 'integer',  inside: [0, 100, 50],       outside: [-1, 101, ...far, wrapped(50)], range: [0, 100], default: 50 },
  { name: 'max_subquestions',   kind: 'integer',  inside: [1, 10, 6],         outside: [0, 11, ...far, wrapped(6)], range: [1, 10], default: 6 },
  { name: 'grounding_level',    kind: 'fraction', inside: [0, 1, 0.5],        outside: ofFraction, range: [0, 1], default: 0 },
  // 5 to 25 is recommended and the default is 30: what lies between, or beyond, may be accepted or refused.
  { name: 'max_snippets',       kind: 'integer',  inside: [5, 25, 30],        outside: [],          range: [5, 25], default: 30 },
  { name: 'max_tokens',         kind: 'integer',  inside: [100, 8000, 4000],  outside: [99, 8001, ...far, wrapped(4000)], range: [100, 8000], default: 4000 },
  { name: 'keyword_threshold',  kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
  { name: 'semantic_threshold', kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
]

/** Configurations of all members at their bounds in which each bound of one meets each bound of every other. */
export const togetherCases = 6

/** Most members of a declared configuration that are left out, each by itself. */
const leftOut = queryConfigMembers.length

/** How many requests are sent with values that are accepted: each by itself, none, all defaults, several, the declared ones without one. */
export const insideCases =
  queryConfigMembers.reduce((sum, { inside }) => sum + inside.length, 0) + 2 + togetherCases + leftOut

const kinds = { boolean: 'boolean', integer: 'number', fraction: 'number' } as const
/** One may be made of the other: `true` for a number is sent for several members at once, and 1 for a boolean, to see no 5xx. */
const tolerates = { boolean: ['number'], number: ['boolean'] } as const

/** The configuration as a member of a request body, and its own members below it. */
export function queryConfigIn(at: string, exampleAt: string, example: Member['example'] = {}): Member[] {
  const type = '400-query-config'
  return [
    {
      ...{ at, kinds: ['object'], tolerates: ['boolean'], section: '2.7', judgedBy: { type } },
      ...{ exampleAt, example, component: 'QueryConfig' },
    },
    ...queryConfigMembers.map(({ name, kind, inside, outside }): Member => {
      const own = kinds[kind]
      const judgedBy = outside.length > 0 ? { type, value: type } : { type }
      return { at: `${at}/${name}`, kinds: [own], tolerates: tolerates[own], section: '2.7', judgedBy, inside, outside }
    }),
  ]
}

/** How many are sent with a value outside the bounds, or of another type. */
export const outsideCases = queryConfigIn('', '').reduce(
  (sum, member) => sum + otherKinds(member).length + (member.outside?.length ?? 0),
  0,
)
