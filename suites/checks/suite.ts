import { pairsOf, isRefusal, type Pairs } from '../../catalogue/answers.ts'
import { type OperationId, operationOf } from '../../catalogue/operations.ts'
import { type Client, effectOf, type Given } from '../../harness/client/index.ts'
import {
  type Ask,
  countsAsGranted,
  describeResponse,
  type Exchange,
  isExpected,
  isOpen,
  type Open,
  type Probe,
  type Purpose,
  type Verdict,
  withChange,
  open,
  lookAt,
} from '../../harness/journal/index.ts'
import {
  againAtEnd,
  send,
  type CheckContext,
  comparePairs,
  type Later,
  settle,
  type Judge,
} from '../../harness/run/index.ts'
import {
  type Case,
  type Condition,
  generatedRule,
  materialOf,
  nameOfFaults,
  type Refusal,
  sendable,
  type JudgedCases,
  type KnownCases,
} from './case.ts'
import { once, ownTurn, sharedBy } from './created.ts'
import { allOf, type CaseRule, held, madeOnce, requestFor } from './rules.ts'
import {
  type Control,
  control,
  lookAtControl,
  nameOfControl,
  notGranted,
  describeControl,
  responseTo,
  isDeclared,
  operationIn,
  placeholderRequest,
  sharedRequest,
  validRequest,
} from './valid-request.ts'
import {
  type AreaName,
  type AreaRequirement,
  type CatalogueRequirement,
  areas,
} from '../../catalogue/catalogue.ts'
import { grantedByScenario } from './granted.ts'
import { byScenario, type Further } from './scenario.ts'

/** Judges a valid request with exactly one fault by the accepted pairs. */
async function judgeRefusal(context: CheckContext, condition: Condition): Promise<Verdict | Later> {
  const { client, given, requirement } = context
  const operation = operationIn(context)
  const isOfKey = requirement.fault === 'credentials'
  const found = await (isOfKey ? credentialControl : control)(client, given, operation)
  if (isOpen(found)) return found
  if (found.state !== 'none') {
    client.journal.controls.set(requirement.id, found.state)
    const status = found.exchange.response?.status
    const isBarred = status === undefined || status === 401 || status === 403
    const isSeen = isOfKey && !isBarred && !found.exchange.throttled
    if (found.state !== 'granted' && !isSeen) return notGranted(found)
  }
  await ownTurn(client)
  const material = materialOf(given, requirement, operation)
  if (isOpen(material)) return material
  // A refused key is refused whatever the object's state.
  const { needsOwnObject } = operationOf(operation)
  const isShared = given.options.depth !== 'full' || (isOfKey && needsOwnObject)
  const shared = () => sharedRequest(client, `refused request of ${operation}`, found.valid)
  // The valid request that a fault is put into is made anew for each case, but an object made to be added or destroyed is
  // used for several. A quick run makes one request for all refusals of an operation, since none of them has an effect.
  const isOnce = requirement.effect === 'none' && (isShared || needsOwnObject)
  const valid = isOnce ? madeOnce(isShared ? shared : found.valid) : found.valid
  const all = await condition.casesIn(material, context, valid)
  if (isOpen(all)) return all
  const cases = await sendable(context, operation, all)
  const expects = pairsOf(requirement, operation)
  const refusal: Refusal = { context, material, control: found, expects, valid }
  const { inOrder, generated: more } = condition
  const { refusalRuns } = given.options
  const generated =
    more && generatedRule(material, more, refusalRuns, (one) => ruleOf(refusal, one, true))
  const rules = cases.map((one) => ruleOf(refusal, one))
  const rule = allOf(rules, { inOrder, generated })
  return againAtEnd((isEnd) =>
    condition.judge ? condition.judge(refusal, cases, isEnd) : settle(client, rule, isEnd),
  )
}

/**
 * The control of credential faults: the same request with the full key. If nothing is declared, a placeholder (`{}` or
 * an unknown id): any answer but 401 and 403 shows that the key was checked first, or not at all.
 */
async function credentialControl(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Control | Open> {
  const isReading = given.options.readOnly && effectOf(given, operation) !== 'none'
  // A read-only run cannot create the object to read, and uses a placeholder.
  const isMakeable = !(isReading && operationOf(operation).reads)
  const { hasFull } = given.keys
  if (hasFull && isMakeable && isDeclared(given, operation))
    return control(client, given, operation)
  return once(client, `credential control ${operation}`, async (): Promise<Control | Open> => {
    const placeholder = await placeholderRequest(given, operation)
    const valid = async (): Promise<Probe> => placeholder
    const unsent = hasFull ? isReading && '--read-only' : 'no key'
    if (unsent) return { state: 'none', unsent, valid }
    const exchange = await send(client, placeholder, { requirement: null, role: 'control' })
    if (isOpen(exchange)) return exchange
    const state = countsAsGranted(exchange) ? 'granted' : 'refused'
    return { state, exchange, valid }
  })
}

/** @param isGenerated no other requirement judges it: once this one is judged, its answer is forgotten */
export function ruleOf(refusal: Refusal, one: Case, isGenerated = false): CaseRule {
  const { context, control } = refusal
  const { client, given, requirement } = context
  const addition = one.control && controlRequest(refusal, one.control)
  let request: Ask | undefined
  return {
    when: one.when,
    // The others are still judged if such a case is inconclusive.
    isFurther: Boolean(one.control ?? one.judge ?? one.object ?? one.mayStay),
    judge(journal) {
      if (one.judge) return one.judge(journal, refusal)
      // Besides its own request, it may need the control of what it adds, and a request before it.
      if (addition) {
        const found = lookAtControl(client, given, addition)
        if (!('state' in found)) return found
        const why = 'the same request without its fault was refused'
        if (found.state === 'refused') return notGranted(found, why)
      }
      if (one.isBehind) {
        const before = requestFor(context, `before ${one.what}`, control.valid, { role: 'setup' })
        const seen = lookAt(journal, before, client.known)
        if (seen.outcome === 'asks') return seen
      }
      request ??= requestOf(refusal, one, isGenerated)
      const seen = lookAt(journal, request, client.known)
      if (seen.outcome !== 'answered') return seen
      const { exchange } = seen
      const { response } = exchange
      // Member faults that crash the server are bad input, too.
      if (response?.isBreakdown && one.faults?.some((fault) => fault.part === 'member'))
        sharedBy(client).crashes.set(exchange, one.what)
      const expected = one.expects ?? refusal.expects
      const compared = comparePairs(context, exchange, expected)
      const isDone = one.mayStay && !one.object && response?.status === 409
      const reason = isDone
        ? 'answered 409: an earlier run may have added the deleted file; declare graphs.create and files.upload'
        : requirement.fault === 'credentials' && whyHidden(exchange, control)
      if (reason) return open(reason)
      if (typeof compared === 'object') return open(compared.why)
      const isTaken = response?.isGranted === true
      if (compared === 'held') return { outcome: 'held', cases: 1, isGranted: isTaken }
      // A copy of the server may not know yet what the run made.
      const isUnknown = [404, 410].includes(response?.status ?? 0)
      if (one.object && isUnknown) return held
      const change = one.object ?? (isTaken ? one.coercion : undefined)
      if (change) {
        const twin = lookAt(journal, twinOf(refusal, one, change), client.known)
        if (twin.outcome === 'asks') return twin
        const isAlike = twin.outcome === 'answered' && countsAsGranted(twin.exchange)
        if (isAlike !== (one.object !== undefined)) return held
      }
      return { outcome: compared, evidence: { exchange, what: one.what, expected } }
    },
  }
}

/** The valid request with what a case adds to it. */
function controlRequest({ context, material }: Refusal, add: NonNullable<Case['control']>) {
  const { client, given } = context
  const { operation, valid } = material
  const make = () =>
    withChange(validRequest(client, given, operation), (own) => ({
      ...add(own),
      effect: own.effect,
    }))
  return { operation, name: nameOfControl(add(valid)), make }
}

/** The request that tells whether a wrong answer is the server's fault. */
function twinOf(refusal: Refusal, one: Case, change: (valid: Probe) => Probe): Ask {
  const { context, material, valid } = refusal
  const { client, given } = context
  // A new request for the other object, since the last file may be in its graph now.
  const make = one.object ? () => validRequest(client, given, material.operation) : valid
  const source = () => withChange(make(), change)
  const purpose = { role: 'control', isSuccess: countsAsGranted } as const
  return requestFor(context, `instead of ${one.what}`, source, purpose)
}

function requestOf(refusal: Refusal, one: Case, isGenerated: boolean): Ask {
  const { context, material, valid } = refusal
  const { requirement } = context
  const { what, faults = [], effect = 'none' } = one
  const expects = one.expects ?? refusal.expects
  const draft = one.change(material.valid)
  const purpose: Purpose = {
    requirement: requirement.id,
    role: 'probe',
    badInput: true,
    expects,
    what,
    // The envelope of an answer there is not judged.
    ...(one.at === 'other path' && { skipJudging: 'envelope' }),
    // A request that may be accepted is repeated if no answer came.
    ...(effect !== 'none' && {
      isSuccess: (exchange: Exchange) =>
        exchange.response !== undefined && isExpected(expects, exchange.response),
    }),
  }
  const fault = nameOfFaults(faults)
  const { path, params, query, headers, body, credential } = draft
  const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString('base64')
  const key = `${JSON.stringify([material.operation, path, params, headers])} ${text}`
  // Named by its content if several requirements judge it, so that it is sent once; else by its requirement.
  const isShared =
    faults.some((one) => one.part === 'member' || one.part === 'body') &&
    effect === 'none' &&
    credential.full &&
    !one.when &&
    !one.mayStay &&
    !one.object &&
    !isGenerated
  const make = () =>
    withChange(valid(), (own) => {
      // Most differ from the draft in their key alone, which most changes keep: then it is changed already.
      const isDraft =
        !one.object && own.body === material.valid.body && own.params === material.valid.params
      const keepsKey = credential === material.valid.credential
      return isDraft && keepsKey
        ? { ...draft, credential: own.credential, effect, fault }
        : { ...one.change(one.object?.(own) ?? own), effect, fault }
    })
  const name = isShared
    ? key
    : `${requirement.id} ${what} ${credential.value} ${JSON.stringify(query)} ${key}`
  return { name, source: madeOnce(make), purpose }
}

/** Without an accepted control, another refusal may hide a fault of credentials: why nothing was proven then. */
function whyHidden(exchange: Exchange, found: Control): string | undefined {
  const status = exchange.response?.status ?? 0
  const isConclusive = (status >= 200 && status < 300) || status === 401 || status === 403
  if (found.state === 'granted' || isConclusive) return undefined
  const answered = `answered ${describeResponse(exchange)}`
  const said = describeControl(found)
  const also =
    answered === said
      ? 'and so was the same request with the full key'
      : `and the same request with the full key ${said}`
  // Another request is of use only if the service itself refused this one.
  const response = responseTo(found)
  const isAboutRequest = response && response.status < 500 && response.tpe !== undefined
  const remedy = isAboutRequest ? '; declare a request that succeeds' : ''
  return `${answered}, ${also}${remedy}`
}

type ConditionName<Id extends string> = Id extends `${string}/${infer Name}` ? Name : never

type CheckOf<R extends { readonly expects?: unknown }> = R['expects'] extends Pairs
  ? Check
  : Exclude<Check, Condition>

type Probed<A extends AreaName> = Exclude<AreaRequirement<A>, { readonly scenarioOnly: true }>
type Staged<A extends AreaName> = Extract<AreaRequirement<A>, { readonly scenarioOnly: true }>

/**
 * A check for each requirement of the area, except those that only a scenario can trigger, which are judged by their
 * pairs.
 */
export type Checks<A extends AreaName> = {
  readonly [R in Probed<A> as ConditionName<R['id']>]: CheckOf<R>
} & {
  readonly [R in Staged<A> as ConditionName<R['id']>]?: CheckOf<R>
}

interface Judging {
  readonly judge: Judge
  /** For the plan, the dry run and `explain`. */
  readonly cases?: KnownCases
}

export type Suite = (id: string) => Judging | undefined

/** `further`: what a scenario's answer must show besides its pair. */
type Check = Condition | JudgedCases | { readonly further: Further } | Judge

/**
 * Defines how the requirements of an area are judged; `*` are shared by several operations. Checks are created on
 * demand.
 */
export function suite<const A extends AreaName, C extends Checks<A>>(
  area: A,
  checks: () => C & Readonly<Record<Exclude<keyof C, keyof Checks<A>>, never>>,
): Suite {
  let made: Readonly<Record<string, Check | undefined>> | undefined
  return (id) => {
    const rows: readonly CatalogueRequirement[] = areas[area]
    const requirement = rows.find((one) => one.id === id)
    if (!requirement) return undefined
    made ??= checks()
    const check = made[requirement.condition]
    const further = check && 'further' in check ? check.further : undefined
    const judge: Judge = (context) => {
      const isGranted = !isRefusal(requirement.expects)
      if (!check || 'further' in check || (context.scenario && !isGranted))
        // A scenario overrides the suite's own way to cause a refusal.
        return isGranted ? grantedByScenario(context) : byScenario(context, further)
      if (typeof check === 'function') return check(context)
      return 'casesIn' in check ? judgeRefusal(context, check) : check.judge(context)
    }
    return { judge, ...(check && 'cases' in check && { cases: check }) }
  }
}
