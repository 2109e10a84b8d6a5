import {
  type Effect,
  isOperationId,
  operationOf,
  type OperationId,
  operations,
} from './operations.ts'
import { type Expected, type Pairs, isRefusal } from './answers.ts'

export const fullKey = '/keys/full'

export const validRequest = Object.fromEntries(
  operations.map(({ id, body, isWhole, creates, params = {} }): [OperationId, Need[]] => [
    id,
    [
      ...(body === 'json' && !isWhole ? [`/operations/${id}/body`] : []),
      ...(body === 'raw' ? [`/operations/${id}/content`] : []),
      ...(creates?.name && 'role' in creates.name
        ? [`/operations/${id}/fields/${creates.name.role}`]
        : []),
      ...Object.values(params).map(({ declaredAt, needs = [declaredAt] }) =>
        needs.length === 1 ? needs[0]! : needs,
      ),
    ],
  ]),
) as unknown as Readonly<Record<OperationId, readonly Need[]>>

/** Needs that every target can meet. */
const common = [
  fullKey,
  ...['application', 'pdfFile', 'file', 'graph'].map((kind) => `/resources/${kind}`),
]

/** True if the requirement may be declared unreachable: it needs a scenario, another key, another object or a role. */
export function mayBeUnreachable(one: Pick<Requirement, 'needs' | 'operation'>): boolean {
  const ofValid = isOperationId(one.operation) ? validRequest[one.operation].map(String) : []
  return one.needs.some(
    (need) =>
      !ofValid.includes(String(need)) && ![need].flat().some((pointer) => common.includes(pointer)),
  )
}

/** `must`: a failure makes the target non-conformant. `should`: reported, decides only with `--strict`. */
export type Level = 'must' | 'should'

/** A JSON Pointer into the target file, or several of which one suffices. */
export type Need = string | readonly string[]

/**
 * `envelope`, `guardrails` and `general` are not operations: their requirements are about every response, or a
 * scenario's operation.
 */
export type Area = OperationId | 'envelope' | 'guardrails' | 'general'

/** A demand of the interface that can be judged from outside. */
export interface Requirement {
  /** `<operation>/<status>-<condition>`; stable: never renamed, never reused. */
  readonly id: string
  readonly operation: Area
  readonly level: Level
  readonly section: string
  /** The demand in our own words; one sentence. */
  readonly statement: string
  /** Members that the target file must declare: all entries; of an inner array, any one. */
  readonly needs: readonly Need[]
  readonly effect: Effect
}

/** Maximum number of requests besides the control and the cases known in advance, which are counted. */
interface Bound {
  readonly requests: number
  readonly generates?: number
  readonly also?: Readonly<Partial<Record<OperationId, number>>>
  /** Sends in addition as many as a run generates for a valid request. */
  readonly andGenerated?: true
}

/** Placeholder among the needs: the scenario of the requirement's own id. */
export const scenario = '/scenarios/{id}'
/** Placeholder among the needs: those of the operation's valid request. */
export const valid = '{valid request}'

/**
 * A requirement as written. Defaults: level `must`, section 7.3, effect `none`, or that of the control; `needs`: `valid`,
 * and `{role}` in it stands for a role of the operation's body; the statement: "<refused> gets <expects>."
 */
export interface RequirementText
  extends Pick<Requirement, 'id'>, Partial<Omit<Requirement, 'id' | 'operation'>> {
  readonly refused?: string
  /** Absent if the requirement is not about status and `tpe`. */
  readonly expects?: Expected
  /** The pairs accepted for a scenario, if fewer than for the suite's own request. */
  readonly expectsByScenario?: Pairs
  /** `general` rows: also accepts a type that §7.3 lists with that status for the scenario's operation. */
  readonly alsoListed?: true
  /** The requirement for the valid request, the control of the operation's refusals. */
  readonly control?: true
  readonly atMost?: Bound
  /**
   * Where the fault is, if not in parameters or body. `credentials`: the control is the same request with the full key;
   * `state`: it is the same request, sent before the target enters the state in the statement.
   */
  readonly fault?: 'credentials' | 'state'
  /** How often a full run sends it (default: once), since one answer can be right by luck. */
  readonly times?: number
  /** Judged after everything else was sent, from its effects. */
  readonly judgedLast?: true
  readonly keyless?: true
  /** The only operations that show it: it does not apply to a target that serves none of them. */
  readonly seenBy?: readonly OperationId[]
  /** Judged only for an operation that is declared removed. */
  readonly onlyIf?: 'removed'
}

export interface DefinedRequirement
  extends Requirement, Omit<RequirementText, keyof Requirement | 'refused'> {
  /** Only a scenario of the target file can trigger it. */
  readonly scenarioOnly: boolean
  /** Its id in its area, after the slash. */
  readonly condition: string
  /** Every answer shows whether it holds: it sends no requests of its own. */
  readonly isObserved: boolean
}

/** A requirement whose id, level and answers are literal types, so that a mistyped one does not compile. */
export type RequirementFrom<A extends string, T extends RequirementText> = T extends RequirementText
  ? DefinedRequirement & {
      readonly id: `${A}/${T['id']}`
      readonly level: T extends { readonly level: Level } ? T['level'] : 'must'
      readonly expects: T['expects']
      readonly scenarioOnly: T['needs'] extends readonly [typeof scenario] ? true : false
    }
  : never

const oneOf = (words: readonly string[], or: string): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')}${or}${words.at(-1)}`

const statusWords: Readonly<Record<string, string>> = {
  '4xx': 'a 4xx (not 401 or 429) with an error envelope',
  '4xx-body': 'a 4xx (not 401, 403, 404 or 429) with an error envelope',
  '4xx-id': '400, 403, 404, 410 or 422 with an error envelope',
}

export function requirement<const A extends Area, const T extends RequirementText>(
  area: A,
  text: T,
): RequirementFrom<A, T> {
  const of = text.control && isOperationId(area) ? operationOf(area) : undefined
  // An object to read is created if none is declared.
  const ofControl = of?.reads ? 'generates' : of?.effect
  const { refused, level = 'must', section = '7.3', effect = ofControl ?? 'none', ...rest } = text
  const needs = text.needs ?? (isOperationId(area) ? [valid] : [])
  const id = `${area}/${text.id}`
  const answers = (isRefusal(text.expects) ? text.expects : []).map(
    ([status, ...types]) => statusWords[status] ?? `${status} ${oneOf(types, ' or ')}`,
  )
  const own = (need: string): string => {
    if (need === scenario) return `/scenarios/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return need.startsWith('{') ? `/operations/${area}/fields/${need.slice(1, -1)}` : need
  }
  return {
    ...rest,
    // Creations are judged on all creations of the run; any other control is sent again at the end.
    ...(ofControl === 'creates' && { judgedLast: true }),
    id,
    condition: text.id,
    operation: area,
    level,
    section,
    statement: text.statement ?? `${refused} gets ${oneOf(answers, ', or ')}.`,
    needs: needs.flatMap((need): readonly Need[] => {
      if (need === valid) return validRequest[area as OperationId]
      return [typeof need === 'string' ? own(need) : need.map(own)]
    }),
    effect,
    scenarioOnly: needs.length === 1 && needs[0] === scenario,
    isObserved: area === 'envelope' && text.expects === undefined,
  } as unknown as RequirementFrom<A, T>
}

export function accepted(what: string) {
  const statement = `${what} returns a 2xx.`
  const own = { id: '2xx-accepted', section: '4.4', expects: '2xx' } as const
  return { ...own, statement, control: true as const }
}

/** A refusal that only a scenario of the target file can trigger. */
export function byScenario<const Id extends string, const Expects extends Pairs>(
  id: Id,
  expects: Expects,
  refused: string,
  section = '7.3',
) {
  return { id, section, needs: [scenario], expects, refused } as const
}

/** §5: an object that the key may not access. */
export function noAccess<const Id extends string>(id: Id, what: string) {
  const refused = `${what} that the key may not access`
  return { ...byScenario(id, [[403, 'InsufficientAccessRights']], refused, '5'), times: 3 }
}

/** §7.4: an error of the model, with any status. */
export function modelError<const Id extends string, const Tpe extends string>(
  id: Id,
  tpe: Tpe,
  what: string,
) {
  const expects = [['any', tpe]] as const
  return { id, section: '7.4', needs: [scenario], expects, statement: `${what} ${tpe}.` } as const
}

export function requirements<const A extends Area, const T extends readonly RequirementText[]>(
  area: A,
  texts: T,
): RequirementFrom<A, T[number]>[] {
  return texts.map((text) => requirement(area, text)) as RequirementFrom<A, T[number]>[]
}

/**
 * Requirements on the creation of anything that has a name.
 * @param requests maximum of `4xx-no-effect`
 */
// oxfmt-ignore
export const namedCreations = (requests: number) => [
  { id: '2xx-own-id', section: '4.4', needs: [valid, '{id}'], expects: '2xx',
    statement: 'Two creations never share an id, even if they are sent at once.',
    effect: 'creates', atMost: { requests: 4, also: { 'files.list': 4 } } },
  { id: '4xx-no-effect', section: '5, 7.2, 7.3', expects: '2xx',
    statement: 'A refused creation makes nothing: the same one with the full key is granted.',
    effect: 'creates', atMost: { requests } },
  { id: '400-atomic', level: 'should', expects: [[400, 'BadRequest']],
    statement: 'When four creations with one name are sent at once, at most one is granted.',
    fault: 'state', effect: 'creates', atMost: { requests: 4, also: { 'files.list': 4 } } },
  { id: '400-malformed-parameters', expects: [[400, 'BadRequest']],
    refused: 'A creation whose name is not a string' },
] as const satisfies readonly RequirementText[]
