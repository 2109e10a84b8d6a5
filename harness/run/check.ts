import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { Client, Given } from '../client/index.ts'
import type { Hooks } from './run.ts'
import {
  type Ask,
  type Exchange,
  type Purpose,
  type Source,
  type Verdict,
  describeResponse,
  type HttpResponse,
  isGranted,
  matchPairs,
  NotExercised,
  Throttled,
  type Evidence,
} from '../journal/index.ts'
import type { Scenario } from '../target/index.ts'
import { ask } from './ask.ts'
import type { Pairs } from '../../catalogue/answers.ts'
import { type SchemaName, validate } from '../../schemas/validate.ts'
import type { Reason } from '../report/index.ts'

/** Judges a requirement. May throw `NotExercised` if it cannot cause a state that it needs. */
export type Judge = (context: CheckContext) => Promise<Verdict | Later>

/** It holds so far, and is judged once more at the end of the run, concurrently with others. */
export interface Later {
  readonly outcome: 'later'
  readonly cases: number
  judge(): Promise<Verdict>
}

export interface CheckContext {
  readonly client: Client
  readonly given: Given
  readonly hooks: Hooks
  readonly requirement: CatalogueRequirement
  readonly scenario: Scenario | undefined
  control: 'granted' | 'refused' | 'none'
  /** Sends a request for this requirement. Requests to a declared application wait until it is idle. */
  send(
    source: Source,
    purpose?: Partial<Purpose>,
    how?: Pick<Ask, 'fresh' | 'isHeld'>,
  ): Promise<Exchange>
}

export function createCheckContext(
  client: Client,
  given: Given,
  hooks: Hooks,
  requirement: CatalogueRequirement,
): CheckContext {
  const { id } = requirement
  return {
    ...{ client, given, hooks },
    requirement,
    control: 'none',
    get scenario() {
      return given.target.scenarios[id]
    },
    send: (source, purpose, how) =>
      ask(client, source, { requirement: id, role: 'probe', ...purpose }, how),
  }
}

/** What is `held`, or `asks` for more at the end, is judged there. */
export const againAtEnd = (
  verdict: Verdict,
  when: 'held' | 'asks',
  judge: () => Promise<Verdict>,
): Verdict | Later =>
  verdict.outcome === when ? { outcome: 'later', cases: verdict.cases, judge } : verdict

export type Compared = 'held' | 'name' | 'broken' | { readonly why: string }

export function comparePairs(
  context: Pick<CheckContext, 'control' | 'given'>,
  exchange: Exchange,
  pairs: Pairs,
): Compared {
  const { isOwnLimit, response, throttled } = exchange
  if (!response)
    return context.control === 'granted' && exchange.unansweredTwice
      ? 'broken'
      : { why: describeResponse(exchange) }
  // Throttling says nothing about a fault, unless a scenario expects it.
  if (throttled && (isOwnLimit || !pairs.some(([status]) => status === response.status)))
    return { why: `throttled: ${describeResponse(exchange)} on every try` }
  const match = matchPairs(pairs, response)
  if (match === 'exact' || (match === 'family' && context.given.options.tpe === 'family'))
    return 'held'
  const isFull = pairs.some(([status]) => status === 507)
    ? undefined
    : storageFull(context.given, exchange)
  // A control would have shown that before.
  const isAlone = match === 'none' && context.control === 'none' && context.given.options.readOnly
  const why = isFull ?? (isAlone ? lacksRight(exchange) : undefined) ?? sentTwice(exchange)
  if (why !== undefined) return { why }
  return match === 'family' ? 'name' : 'broken'
}

function lacksRight(exchange: Exchange): string | undefined {
  const isBarred =
    exchange.response?.status === 403 && exchange.response.tpe === 'InsufficientAccessRights'
  return isBarred && exchange.probe.credential.full
    ? 'the full key lacks a right (403 InsufficientAccessRights): use a key with all rights'
    : undefined
}

/** Says that it conflicts with a copy of itself that got no answer, and may have had its effect; undefined if it does not. */
export function sentTwice(exchange: Exchange): string | undefined {
  if (!exchange.unanswered || exchange.response?.status !== 409) return undefined
  const lost = exchange.unanswered.noResponse?.message ?? 'no answer came'
  return `it was sent twice (${lost} at first), and got 409: the first one may have had its effect`
}

/** Says that what this run made has filled the account: before, 507 is an answer like any other. */
function storageFull(given: Given, exchange: Exchange): string | undefined {
  const { probe, response } = exchange
  const isFull = response?.status === 507 && response.tpe !== undefined
  return isFull && given.objects.created.some((one) => one.operation === probe.operation)
    ? `the account of the full key is now full: answered ${describeResponse(exchange)}`
    : undefined
}

/** Why there is no answer to judge; undefined if there is one. */
export function whySilent(exchange: Exchange): Reason | undefined {
  if (exchange.throttled) return { reason: `throttled: ${describeResponse(exchange)} on every try` }
  return exchange.response ? undefined : { reason: describeResponse(exchange) }
}

/** What is wrong with an answer, or why it says nothing about the target. */
export type Finding = (Pick<Evidence, 'actual'> & { readonly expected: string }) | Reason

export function grantedFinding(
  { given, requirement: { expects } }: Pick<CheckContext, 'given' | 'requirement'>,
  exchange: Exchange,
  expected: string,
): Finding | undefined {
  const { response } = exchange
  const isOneStatus = typeof expects === 'number'
  const fault = { expected: isOneStatus && expected === '2xx' ? String(expects) : expected }
  if (exchange.unansweredTwice) return fault
  const silent = whySilent(exchange)
  if (silent) return silent
  const reason = lacksRight(exchange) ?? storageFull(given, exchange)
  if (reason !== undefined) return { reason }
  const isRight = isGranted(response!) && (!isOneStatus || response!.status === expects)
  return isRight ? undefined : fault
}

export type BodySchema = Exclude<SchemaName, 'report' | 'target' | 'certificate' | 'baseline'>

const named: Readonly<Record<BodySchema, string>> = {
  'llm-tool-completion': 'a chat completion with an llm tool',
  job: 'a job',
  'created-job': 'a created job',
  'pdf-content': 'the content of a PDF',
  'error-envelope': 'an error envelope',
  'chat-completion': 'a chat completion',
  'medical-entities': 'a list of medical entities',
}

/**
 * Returns what is wrong with a body that is not JSON or does not fit the schema. Throws `NotExercised` for a success
 * larger than the read limit.
 */
export function shapeFault(response: HttpResponse, schema: BodySchema) {
  const json = response.json()
  const expected = `a JSON body with the members and types of ${named[schema]}`
  if (!json.ok && json.unread && isGranted(response)) throw new NotExercised(json.problem)
  if (!json.ok) return { expected, actual: `${response.status}, but ${json.problem}` }
  const found = validate(schema, json.value)
  return found.valid ? undefined : { expected, actual: `${response.status}, but ${found.problem}` }
}

export function shapeFinding(exchange: Exchange, schema: BodySchema): Finding | undefined {
  const json = exchange.response!.json()
  if (!json.ok && json.unread && isGranted(exchange.response!)) return { reason: json.problem }
  return shapeFault(exchange.response!, schema)
}

/** Throws `NotExercised` without an answer, or with nothing but throttling. */
export function answered(
  exchange: Exchange,
): asserts exchange is Exchange & { response: NonNullable<Exchange['response']> } {
  if (exchange.throttled) throw new Throttled(`${describeResponse(exchange)} on every try`)
  if (!exchange.response) throw new NotExercised(describeResponse(exchange))
}

/**
 * The verdict of a rule over the whole history, which has shown that the state existed: of its evidence, the first
 * decisive answer, and one with another name of the right family. Open if one says nothing.
 */
export function decisive(context: CheckContext, verdict: Verdict): Verdict {
  if (verdict.outcome !== 'broken') return verdict
  const { poisonedResponses } = context.client.findings
  let named: Evidence | undefined
  for (const evidence of verdict.evidence) {
    const { exchange, expected } = evidence
    // Another requirement fails for the request that spoiled it.
    const isTrial = exchange.purpose.skipJudging === 'at all'
    if (isTrial || poisonedResponses.has(exchange.response ?? exchange)) continue
    if (typeof expected === 'string') return { ...verdict, evidence: [evidence] }
    context.control = 'granted'
    const found = comparePairs(context, exchange, expected)
    if (typeof found === 'object') return { outcome: 'open', why: found.why }
    // Another answer may be wrong in more than its name.
    if (found === 'broken') return { ...verdict, evidence: named ? [evidence, named] : [evidence] }
    if (found === 'name') named ??= evidence
  }
  return named ? { ...verdict, evidence: [named] } : { outcome: 'held', cases: verdict.cases }
}

export function fits(exchange: Exchange, schema: SchemaName): boolean {
  const json = exchange.response?.json()
  return json?.ok === true && validate(schema, json.value).valid
}
