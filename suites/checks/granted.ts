import { operationOf, type OperationId } from '../../catalogue/operations.ts'
import type { Given } from '../../harness/client/index.ts'
import {
  type Ask,
  type Evidence,
  countsAsGranted,
  describeResponse,
  mayConflictWithCopy,
  type Exchange,
  isMissing,
  isOpen,
  jsonOf,
  type Making,
  type Open,
  type Probe,
  type Verdict,
  withChange,
  open,
  lookAt,
} from '../../harness/journal/index.ts'
import {
  againAtEnd,
  type CheckContext,
  type Finding,
  grantedFinding,
  type Judge,
  settle,
} from '../../harness/run/index.ts'
import { isObject } from '../../schemas/json.ts'
import {
  type Case,
  type Cases,
  controlCase,
  type Generated,
  generatedRule,
  type JudgedCases,
  materialOf,
  nameOfFaults,
  quickCases,
  withBody,
} from './case.ts'
import { isTaken, retrieval, uploadsIn } from './created.ts'
import {
  allOf,
  type CaseRule,
  type CaseVerdict,
  concluded,
  findingVerdict,
  lookUntil,
  madeOnce,
  requestFor,
} from './rules.ts'
import { around, asScenario } from './scenario.ts'
import {
  applyScenario,
  type Basis,
  operationIn,
  validRequest,
  controlExchange,
  triesFor,
} from './valid-request.ts'

export type GrantedCheck = (given: Given, exchange: Exchange) => Finding | undefined

const successOf = (context: CheckContext): string => {
  const { expects } = context.requirement
  return typeof expects === 'number' ? String(expects) : 'a 2xx'
}

function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (!isObject(value)) return value
  const members = Object.entries(value).toReversed()
  return Object.fromEntries(members.map(([name, own]) => [name, turned(own)]))
}

/**
 * The same JSON value in another spelling (RFC 8259): white space, escapes at the beginning of names and texts, members
 * in another order.
 */
export function respelled(probe: Probe): Probe {
  const spread = `\r\n\t${JSON.stringify(turned(jsonOf(probe)), null, 2)}\n`
  const body = spread.replaceAll(
    /(?<!\\)"([a-z])/gi,
    (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`,
  )
  return { ...probe, body }
}

interface OfControl {
  /** The answer that is judged, if not the control's. */
  readonly answer?: (context: CheckContext, operation: OperationId) => Promise<Exchange | Open>
  /** Continues the request line. */
  readonly what?: string
  readonly expected?: string
  /** Number of further attempts if the control's answer fails the check: generated answers vary. */
  readonly tries?: number
}

/**
 * The operation's control; then the same request at the end of the run, immediately after
 * one with an invalid body, since earlier requests must not change the answer; then with other JSON spelling. Not for
 * creations, scenarios and quick runs.
 */
const withControl: Cases = (one) => {
  const { body, effect } = operationOf(one.operation)
  if (effect === 'creates') return [controlCase]
  const again: Case = {
    ...controlCase,
    what: `${controlCase.what}, at the end of the run`,
    when: 'at the end',
    effect: one.valid.effect,
  }
  if (body !== 'json') return [controlCase, again]
  return [
    controlCase,
    { ...again, isBehind: true },
    { ...again, what: 'with its JSON written differently', change: respelled },
  ]
}

async function acceptedAnswer(
  context: CheckContext,
  operation: OperationId,
): Promise<Exchange | Open> {
  const sent = await controlExchange(context.client, context.given, operation)
  if (isOpen(sent)) return sent
  const isAlready = sent.response?.status === 409 && countsAsGranted(sent)
  return isAlready ? sendWithFreshFile(context, operation, sent) : sent
}

/** Judges the requirement of an operation for its valid request, which `check` may look at. */
export const controlled = ({ check, ...control }: OfControl & Pick<GrantedOptions, 'check'>) =>
  grantedBy(withControl, { check, control })

export const accepted = controlled({ answer: acceptedAnswer })

interface GrantedOptions {
  readonly check?: GrantedCheck | undefined
  readonly generated?: Generated | undefined
  readonly control?: OfControl
  /** Continues the request line of a scenario's request. */
  readonly inScenario?: string
}

export function grantedBy(cases: Cases, options: GrantedOptions): JudgedCases {
  const { check, generated, inScenario: what = asScenario } = options
  const chosen: Cases = (material) => {
    const all = cases(material)
    return isOpen(all) || material.options.depth === 'full' ? all : quickCases(material, all)
  }
  return {
    cases: chosen,
    generated,
    async judge(context) {
      const { client, given, requirement, scenario } = context
      const operation = operationIn(context)
      const { control } = options
      const first = control && (await judgeControl(context, operation, control, check))
      if (first && (scenario || first.outcome !== 'held')) return first
      const ruleOf = (one: Case): CaseRule =>
        grantedRule(context, operation, {
          ...one,
          check,
          make: () =>
            withChange(validRequest(client, given, operation), (valid) => ({
              ...one.change(valid),
              effect: valid.effect,
              fault: nameOfFaults(one.faults),
            })),
        })
      if (scenario) {
        const rule = allOf([ruleOf({ ...controlCase, what })])
        return inScenario(context, operation, () => settle(client, rule))
      }
      const material = materialOf(given, requirement, operation)
      if (isOpen(material)) return material
      const all = chosen(material)
      if (isOpen(all)) return all
      const rules = all.filter((one) => one !== controlCase).map(ruleOf)
      const { grantedRuns } = given.options
      const rule = allOf(rules, {
        generated: generated && generatedRule(material, generated, grantedRuns, ruleOf),
      })
      return againAtEnd(async (isEnd) => {
        const verdict = await settle(client, rule, isEnd)
        return { ...verdict, cases: (verdict.cases ?? 0) + (first ? 1 : 0) }
      })
    },
  }
}

async function judgeControl(
  context: CheckContext,
  operation: OperationId,
  of: OfControl,
  check: GrantedCheck | undefined,
): Promise<Verdict> {
  const { client, given } = context
  const { what = controlCase.what, expected = successOf(context), tries = 0 } = of
  const answer = of.answer ?? (() => controlExchange(client, given, operation))
  return inScenario(context, operation, async (): Promise<Verdict> => {
    const exchange = await answer(context, operation)
    if (isOpen(exchange)) return exchange
    const judged = await settle(client, () =>
      answerVerdict(context, exchange, { what, check, expected }),
    )
    const verdict = concluded([judged])
    if (verdict.outcome !== 'broken' || !exchange.response || tries === 0) return verdict
    const make = () => validRequest(client, given, operation)
    return settle(client, allOf([grantedRule(context, operation, { make, what, check, tries })]))
  })
}

/**
 * The verdict on the answer to a valid request. If it finds no file, the file of the run that it names is retrieved: one
 * that was lost is judged by another requirement.
 */
function answerVerdict(
  context: CheckContext,
  exchange: Exchange,
  of: Pick<GrantedOptions, 'check'> & Pick<OfControl, 'expected'> & Pick<Evidence, 'what'>,
): CaseVerdict {
  const { client, given } = context
  const { check, expected = successOf(context), what } = of
  const found = grantedFinding(context, exchange, expected) ?? check?.(given, exchange)
  const verdict = findingVerdict(found, { exchange, what })
  const { creates, operation, params } = exchange.probe
  const file = params['file_id'] ?? creates ?? ''
  // What destroys the file may have done so, and deny it.
  const isUse =
    operation !== null &&
    operation !== 'files.retrieve' &&
    operationOf(operation).effect !== 'destroys' &&
    given.objects.madeAt.has(file)
  if (!isUse || !isMissing(exchange.response ?? {}) || given.target.absent['files.retrieve'])
    return verdict
  const seen = lookAt(
    client.journal,
    {
      name: `retrieval of ${file}`,
      source: () => retrieval(given, file),
      purpose: { requirement: null, role: 'setup', isSuccess: isTaken },
    },
    client.known,
  )
  if (seen.outcome === 'asks') return seen
  if (seen.outcome === 'open' || !isMissing(seen.exchange.response ?? {})) return verdict
  const words = describeResponse(seen.exchange)
  return open(
    `the uploaded file ${file} cannot be retrieved, either (${words}): see files.upload/2xx-retrievable`,
  )
}

interface GrantedRequest extends Pick<Case, 'what' | 'when' | 'isBehind'> {
  make(): Making
  readonly check?: GrantedCheck | undefined
  readonly tries?: number
}

/** A valid request that must be granted and pass its check, which is sent as often as its answers may vary. */
function grantedRule(
  context: CheckContext,
  operation: OperationId,
  request: GrantedRequest,
): CaseRule {
  const { client, given } = context
  const { what, check, tries, when, isBehind } = request
  const make = grantedProbe(context, operation, request.make)
  const malformed = madeOnce(() =>
    withChange(validRequest(client, given, operation), (valid) => withBody(valid, 'text')),
  )
  const before = requestFor(context, `before ${what}`, malformed, {
    role: 'setup',
    badInput: true,
    about: `${operation}/4xx-malformed-body`,
  })
  // What was lost may have destroyed its object: each try gets one of its own.
  const source = () => (operationOf(operation).effect === 'destroys' ? make : madeOnce(make))
  const attempts: Ask[] = []
  const attempt = (at: number): Ask =>
    (attempts[at] ??= requestFor(context, `${what}, ${at}`, source(), {
      isSuccess: countsAsGranted,
      what,
    }))
  return {
    when,
    judge(journal): CaseVerdict {
      const earlier = isBehind && lookAt(journal, before, client.known)
      if (earlier?.outcome === 'asks') return earlier
      let verdict: CaseVerdict | undefined
      const seen = lookUntil(client, attempt, (exchange, done) => {
        verdict = answerVerdict(context, exchange, { what, check })
        // An operation that does not answer shows nothing more.
        const isLast = !exchange.response || done >= (tries ?? triesFor(operation, exchange))
        return verdict.outcome !== 'broken' || isLast
      })
      return seen.outcome === 'answered' ? verdict! : seen
    },
  }
}

/**
 * Handles "already in the graph": it counts as an accepted control, but does not prove the requirement unless the file
 * was new.
 */
async function sendWithFreshFile(
  context: CheckContext,
  operation: OperationId,
  already: Exchange,
): Promise<Exchange | Open> {
  const { client, given } = context
  const uploaded = uploadsIn(given, already.probe)
  const why =
    'the file is already in the graph, and no new one can be uploaded (declare operations.files.upload and fields.file)'
  if (uploaded === '') return open(why)
  const make = () => validRequest(client, given, operation)
  const exchange = await context.send(make, { isSuccess: countsAsGranted })
  if (isOpen(exchange)) return exchange
  // A server may identify files by content and return the same id each time.
  if (uploadsIn(given, exchange.probe) === uploaded) return open(why)
  return mayConflictWithCopy(exchange) ? open('the answer to an addition was lost') : exchange
}

/**
 * A further requirement for valid requests: a change of the valid request, or a scenario instead.
 * @param what continues the request line: `with file_types`
 * @param changeBy makes the change from what is declared
 */
export function granted(
  what: string,
  changeBy: (known: Basis) => Case['change'] | Open = () => controlCase.change,
  check?: GrantedCheck,
): JudgedCases {
  const cases: Cases = (material) => {
    const change = changeBy(material)
    return isOpen(change) ? change : [{ what, change, effect: material.valid.effect }]
  }
  return grantedBy(cases, { check, inScenario: what })
}

export const grantedByScenario: Judge = (context) => granted(asScenario).judge(context)

export function grantedProbe(
  { client, given, requirement: { effect }, scenario }: CheckContext,
  operation: OperationId,
  own: () => Making,
): () => Making {
  if (!scenario) return own
  const change = (probe: Probe): Probe => ({ ...probe, effect })
  return () => withChange(applyScenario(client, given, scenario, operation), change)
}

export function inScenario<T>(
  context: CheckContext,
  operation: OperationId,
  judge: () => Promise<T>,
): Promise<T | Open> {
  const { scenario } = context
  return scenario ? around(context, scenario, operation, judge) : judge()
}

export async function grantedVerdict(
  context: CheckContext,
  request: GrantedRequest,
): Promise<Verdict> {
  const operation = operationIn(context)
  const rule = allOf([grantedRule(context, operation, request)])
  const verdict = await inScenario(context, operation, () => settle(context.client, rule))
  // The same request may be tried again.
  context.client.journal.forget(context.requirement.id)
  return verdict
}
