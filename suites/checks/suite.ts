import { isRefusal, type Pairs, pairsOf } from '../../catalogue/answers.ts'
import {
  type AreaName,
  type AreaRequirement,
  type CatalogueRequirement,
  conditionOf,
  areas,
} from '../../catalogue/catalogue.ts'
import {
  type Judge,
  againAtEnd,
  ask,
  type CheckContext,
  comparePairs,
  type Later,
  settle,
} from '../../harness/run/index.ts'
import {
  type Condition,
  type KnownCases,
  type Case,
  type Material,
  materialOf,
  otherPathOf,
  sendable,
} from './case.ts'
import { grantedByScenario } from './granted.ts'
import { byScenario, type Further } from './scenario.ts'
import { type OperationId, readsOf } from '../../catalogue/operations.ts'
import { type Client, effectOf, type Given } from '../../harness/client/index.ts'
import {
  type Ask,
  countsAsGranted,
  describeResponse,
  type Exchange,
  isBreakdown,
  isExpected,
  isGranted,
  isOpen,
  type Journal,
  type Made,
  type Open,
  type Probe,
  type Purpose,
  type Verdict,
  withChange,
} from '../../harness/journal/index.ts'
import { once, sharedBy } from './created.ts'
import { allOf, type CaseRule, type CaseVerdict, generatedBy, lookAt } from './rules.ts'
import {
  type Control,
  control,
  type ControlRequest,
  isDeclared,
  lookAtControl,
  nameOfControl,
  needsOwnObject,
  notGranted,
  operationIn,
  placeholderRequest,
  saidBy,
  seedFor,
  sharedRequest,
  validRequest,
} from './valid-request.ts'

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

interface Judged {
  readonly judge: Judge
  readonly cases?: KnownCases
}

export type Suite = (id: string) => Judged | undefined

/** `further`: what a scenario's answer must show besides its pair. */
type Check =
  | Condition
  | (KnownCases & { readonly judge: Judge })
  | { readonly further: Further }
  | Judge

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
    const check = made[conditionOf(id)]
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

/** Judges a valid request with exactly one fault by the accepted pairs. */
export async function judgeRefusal(
  context: CheckContext,
  condition: Condition,
): Promise<Verdict | Later> {
  const { client, given, requirement } = context
  const operation = operationIn(context)
  const isOfKey = requirement.fault === 'credentials'
  const found = await (isOfKey ? credentialControl : control)(client, given, operation)
  if (isOpen(found)) return found
  if (found.state !== 'none') {
    client.journal.controls.set(requirement.id, found.state)
    const status = found.exchange?.response?.status
    const isBarred = status === undefined || status === 401 || status === 403
    const isSeen = isOfKey && !isBarred && !found.exchange?.throttled
    if (found.state !== 'granted' && !isSeen) return notGranted(found)
  }
  const material = materialOf(given, requirement, operation)
  if (isOpen(material)) return material
  const binding = new Binding(context, material, found)
  const { ruleOf, valid } = binding
  const all = await condition.casesIn(material, context, valid)
  if (isOpen(all)) return all
  const cases = await sendable(context, operation, all)
  if (isOpen(cases)) return cases
  const arbitrary = given.options.depth === 'full' ? condition.generated?.(material) : undefined
  const generated =
    arbitrary &&
    generatedBy({
      arbitrary,
      ruleOf: binding.ruleOfGenerated,
      seed: seedFor(given, requirement.id),
      numRuns: given.options.refusalRuns,
    })
  const { inOrder = false } = condition
  const rule = allOf(cases.map(ruleOf), { inOrder, ...(generated && { generated }) })
  return againAtEnd(async (isEnd) => {
    const verdict = await (condition.judge
      ? condition.judge({ context, material, cases, ruleOf }, isEnd)
      : settle(client, rule, isEnd))
    binding.noteCrashes(verdict.outcome !== 'asks')
    return verdict
  })
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
  const isMakeable = !(isReading && readsOf(operation))
  const { hasFull } = given.keys
  if (hasFull && isMakeable && isDeclared(given, operation))
    return control(client, given, operation)
  return once(client, `credential control ${operation}`, async (): Promise<Control | Open> => {
    const placeholder = await placeholderRequest(given, operation)
    const valid = async (): Promise<Probe> => placeholder
    const unsent = hasFull ? isReading && '--read-only' : 'no key'
    if (unsent) return { state: 'none', said: () => `not sent: ${unsent}`, valid }
    const exchange = await ask(client, placeholder, { requirement: null, role: 'control' })
    if (isOpen(exchange)) return exchange
    const state = countsAsGranted(exchange) ? 'granted' : 'refused'
    return { state, said: () => saidBy(exchange), exchange, valid }
  })
}

/** Connects the cases of a refusal with a run: their requests, and the state of the control. */
export class Binding {
  readonly #context: CheckContext
  readonly #material: Material
  readonly #found: Control
  readonly #isOfKey: boolean
  readonly #pairs: Pairs
  /**
   * The valid request that a fault is put into, made anew for each case; an object made to be added or destroyed is used
   * for several. A quick run makes one request for all refusals of an operation, since a refused request has no effect.
   */
  readonly valid: () => Promise<Made>
  readonly #otherPath: string | undefined
  readonly #requests = new Map<Case, Ask>()
  readonly #controls = new Map<Case, ControlRequest>()
  readonly #generated = new Set<Case>()

  constructor(context: CheckContext, material: Material, found: Control) {
    this.#context = context
    this.#material = material
    this.#found = found
    const { client, given, requirement } = context
    const { operation } = material
    this.#isOfKey = requirement.fault === 'credentials'
    this.#pairs = pairsOf(requirement, operation)
    this.#otherPath = otherPathOf(given, operation)
    const needsObject = needsOwnObject(operation)
    // A refused key is refused whatever the object's state.
    const isShared = given.options.depth !== 'full' || (this.#isOfKey && needsObject)
    let kept: Promise<Made> | undefined
    this.valid = () => {
      if (requirement.effect !== 'none' || !(isShared || needsObject)) return found.valid()
      const name = `refused request of ${operation}`
      kept ??= isShared ? sharedRequest(client, name, () => found.valid()) : found.valid()
      return kept
    }
  }

  /** No other requirement judges it: once this one is judged, its answer is forgotten. */
  readonly ruleOfGenerated = (one: Case): CaseRule => {
    this.#generated.add(one)
    return this.ruleOf(one)
  }

  readonly ruleOf = (one: Case): CaseRule => {
    const judge = one.ruleOf
      ? one.ruleOf({ client: this.#context.client, valid: this.valid, look: this.#look })
      : (journal: Journal) => this.#judge(journal, one)
    // The others are still judged if such a case is inconclusive.
    const isFurther = Boolean(one.control ?? one.ruleOf ?? one.object ?? one.mayStay)
    return { judge, when: one.when, isFurther }
  }

  readonly #look = (journal: Journal, request: Ask) =>
    lookAt(journal, request, this.#context.client.known)

  #judge(journal: Journal, one: Case): CaseVerdict {
    const without = one.control && this.#withoutControl(one, one.control)
    if (without) return without
    const before = one.isBehind && this.#look(journal, this.#before(one))
    if (before?.outcome === 'asks') return before
    const seen = this.#look(journal, this.#requestOf(one))
    if (seen.outcome !== 'answered') return seen
    const { exchange } = seen
    const expects = one.expects ?? this.#pairs
    const compared = comparePairs(this.#context, exchange, expects)
    const isDone = one.mayStay && !one.object && exchange.response?.status === 409
    const reason = isDone
      ? 'answered 409: an earlier run may have added the deleted file; declare graphs.create and files.upload'
      : this.#isOfKey && whyHidden(exchange, this.#found)
    if (reason) return { outcome: 'open', why: { reason } }
    if (typeof compared === 'object') return { outcome: 'open', why: { reason: compared.why } }
    const isTaken = exchange.response !== undefined && isGranted(exchange.response)
    if (compared === 'held') return { outcome: 'held', cases: 1, isGranted: isTaken }
    // A copy of the server may not know yet what the run made.
    const isUnknown = [404, 410].includes(exchange.response?.status ?? 0)
    if (one.object && isUnknown) return { outcome: 'held', cases: 1 }
    const change = one.object ?? (isTaken ? one.coercion : undefined)
    if (change) {
      const twin = this.#look(journal, this.#twin(one, change))
      if (twin.outcome === 'asks') return twin
      const isAlike = twin.outcome === 'answered' && countsAsGranted(twin.exchange)
      if (isAlike !== (one.object !== undefined)) return { outcome: 'held', cases: 1 }
    }
    return { outcome: compared, evidence: { exchange, what: one.what, expected: expects } }
  }

  /** Asks for the control of a case; open if it was not granted. */
  #withoutControl(one: Case, change: (valid: Probe) => Probe): CaseVerdict | undefined {
    const { client, given } = this.#context
    const { operation, valid: draft } = this.#material
    const request: ControlRequest = this.#controls.get(one) ?? {
      operation,
      name: nameOfControl(change(draft)),
      make: () =>
        withChange(validRequest(client, given, operation), (valid) => ({
          ...change(valid),
          effect: valid.effect,
        })),
    }
    this.#controls.set(one, request)
    const found = lookAtControl(client, given, request)
    if (!('state' in found)) return found
    const why = 'the same request without its fault was refused'
    return found.state === 'refused' ? notGranted(found, why) : undefined
  }

  #before(one: Case): Ask {
    const { id } = this.#context.requirement
    const purpose = { requirement: id, role: 'setup' } as const
    return { name: `${id} before ${one.what}`, source: () => this.#found.valid(), purpose }
  }

  #twin(one: Case, change: (valid: Probe) => Probe): Ask {
    const { client, given, requirement } = this.#context
    const purpose = {
      requirement: requirement.id,
      role: 'control',
      isSuccess: countsAsGranted,
    } as const
    // A new request for the other object, since the last file may be in its graph now.
    const valid = one.object
      ? () => validRequest(client, given, this.#material.operation)
      : this.valid
    const source = () => withChange(valid(), change)
    return { name: `${requirement.id} instead of ${one.what}`, source, purpose }
  }

  #requestOf(one: Case): Ask {
    const known = this.#requests.get(one)
    if (known) return known
    const { requirement } = this.#context
    const { what, effect = 'none', when } = one
    const expects = one.expects ?? this.#pairs
    const draft = one.change(this.#material.valid)
    const isElsewhere = draft.path === this.#otherPath
    const purpose: Purpose = {
      requirement: requirement.id,
      role: 'probe',
      badInput: true,
      expects,
      what,
      // The envelope of an answer there is not judged.
      ...(isElsewhere && { skipJudging: 'envelope' }),
      // A request that may be accepted is repeated if no answer came.
      ...(effect !== 'none' && {
        isSuccess: (exchange: Exchange) =>
          exchange.response !== undefined && isExpected(expects, exchange.response),
      }),
    }
    // Requests with the same fault id are sent once per run: a repetition at the end has no id, so that it is sent again.
    const fault = when === 'at the end' ? undefined : one.fault
    const make = async (): Promise<Made> => {
      const own = await this.valid()
      if (isOpen(own)) return own
      const { valid } = this.#material
      const known = [valid.body, valid.params, valid.headers]
      // Most operations take the same request each time: the draft, but for its key.
      const isDraft =
        !one.object && [own.body, own.params, own.headers].every((part, at) => part === known[at])
      if (!isDraft) return { ...one.change(one.object?.(own) ?? own), effect, fault }
      const { credential } = draft.credential === valid.credential ? own : draft
      return { ...draft, credential, effect, fault }
    }
    let made: Promise<Made> | undefined
    const request = { name: this.#nameOf(one, draft), source: () => (made ??= make()), purpose }
    this.#requests.set(one, request)
    return request
  }

  /** Names a request by its content if several requirements judge it, so that it is sent once; else by its requirement. */
  #nameOf(one: Case, draft: Probe): string {
    const { requirement } = this.#context
    const { operation } = this.#material
    const { path, params, query, headers, body, credential } = draft
    const { fault = '', effect = 'none' } = one
    const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString('base64')
    const start = JSON.stringify([operation, path, params, headers, fault.endsWith('later')])
    const key = `${start} ${text}`
    const isShared = /^body: |^(?!again).* @ /.test(fault) && effect === 'none' && credential.full
    return isShared && !one.when && !one.mayStay && !one.object && !this.#generated.has(one)
      ? key
      : `${requirement.id} ${one.what} ${credential.value} ${JSON.stringify(query)} ${key}`
  }

  /** Once over, nothing is kept: requests that several requirements judge stay in the journal, and keep this object. */
  noteCrashes(isOver: boolean): void {
    const { client } = this.#context
    for (const [one, request] of this.#requests) {
      if (!one.fault?.includes(' @ ')) continue
      const seen = this.#look(client.journal, request)
      const exchange = seen.outcome === 'answered' ? seen.exchange : undefined
      if (exchange?.response && isBreakdown(exchange.response))
        sharedBy(client).crashes.push({ exchange, what: one.what })
    }
    if (isOver) for (const kept of [this.#requests, this.#generated, this.#controls]) kept.clear()
  }
}

/** Without an accepted control, another refusal may hide a fault of credentials: why nothing was proven then. */
function whyHidden(exchange: Exchange, found: Control): string | undefined {
  const status = exchange.response?.status ?? 0
  const isConclusive = (status >= 200 && status < 300) || status === 401 || status === 403
  if (found.state === 'granted' || isConclusive) return undefined
  const answered = `answered ${describeResponse(exchange)}`
  const said = found.said()
  const also =
    answered === said
      ? 'and so was the same request with the full key'
      : `and the same request with the full key ${said}`
  // Another request is of use only if the service itself refused this one.
  const response = found.exchange?.response
  const isAboutRequest = response && response.status < 500 && response.tpe !== undefined
  const remedy = isAboutRequest ? '; declare a request that succeeds' : ''
  return `${answered}, ${also}${remedy}`
}
