import { ownTurn } from './created.ts'
import { refused } from './case.ts'
import { haveStatus, type Pairs, pairsOf } from '../../catalogue/answers.ts'
import {
  busyStatus,
  operationOf,
  type OperationId,
  uploadOperation,
} from '../../catalogue/operations.ts'
import { type Client, effectOf, type Given } from '../../harness/client/index.ts'
import {
  type Ask,
  countsAsGranted,
  type Exchange,
  isExpected,
  isOpen,
  type Journal,
  type Making,
  type Open,
  type Verdict,
  withChange,
  open,
  lookAt,
} from '../../harness/journal/index.ts'
import {
  type CheckContext,
  type Finding,
  maxAtOnce,
  perRun,
  sendHookRequest,
  sendWhile,
  settle,
} from '../../harness/run/index.ts'
import type { Scenario } from '../../harness/target/index.ts'
import {
  allOf,
  type CaseRule,
  type CaseVerdict,
  findingVerdict,
  lookUntil,
  pairsVerdict,
  requestFor,
} from './rules.ts'
import {
  applyScenario,
  bringsBody,
  distinctRequest,
  isDeclared,
  declaredRequest,
  sharedRequest,
  validRequest,
  type Control,
  notGranted,
  responseTo,
  wholeControl,
} from './valid-request.ts'

/** Continues the request line of a scenario's request. */
export const asScenario = 'as the scenario of the target file says'

const leaveAfterEndMs = 800
const pauses = { first: 50, longest: 2000 }

/** Operations that did not leave the state of a scenario. */
const stuckIn = perRun((): string[] => [])

/**
 * Judges a scenario between its `before` and `after` requests; `after` is always sent. Then waits until the operation's
 * valid request is accepted again.
 */
export async function around<T>(
  context: CheckContext,
  scenario: Scenario,
  operation: OperationId,
  judge: () => Promise<T>,
): Promise<T | Open> {
  const { client, given } = context
  const requirement = context.requirement.id
  if (!scenario.isExclusive) return judge()
  const [stuck] = stuckIn(client)
  if (stuck !== undefined) return open(stuck)
  try {
    for (const request of scenario.before) {
      const purpose = { role: 'setup', requirement } as const
      const { status } = await sendHookRequest(client, given, request, purpose)
      client.life.signal.throwIfAborted()
      if (status === undefined || status >= 400)
        return open(
          `the scenario's before request got ${status ?? 'no answer'}: ${request.method} ${request.url}`,
        )
    }
    return await judge()
  } finally {
    for (const request of scenario.after) {
      const deadline = client.life.ended ? { timeoutMs: leaveAfterEndMs } : {}
      const purpose = { role: 'cleanup', requirement, ...deadline } as const
      await sendHookRequest(client, given, request, purpose)
    }
    if (!client.life.ended && isDeclared(given, operation))
      await awaitGranted(client, given, operation)
  }
}

/**
 * Waits until the valid request is accepted again, at most `jobTimeoutMs`: otherwise nothing more of this kind can be
 * judged.
 */
async function awaitGranted(client: Client, given: Given, operation: OperationId): Promise<void> {
  if (given.options.readOnly && effectOf(given, operation) !== 'none') return
  const { jobTimeoutMs } = given.target.limits
  const purpose = { requirement: null, role: 'control' } as const
  const source = () => validRequest(client, given, operation)
  const deadline = performance.now() + jobTimeoutMs
  const askOf = (at: number): Ask => {
    const pauseMs = at && Math.min(pauses.first * 2 ** (at - 1), pauses.longest)
    return { source, purpose, pauseMs }
  }
  const came = await sendWhile(client, askOf, (so) =>
    so.some(countsAsGranted) || performance.now() >= deadline ? 0 : 1,
  )
  if (client.life.ended || (!isOpen(came) && came.some(countsAsGranted))) return
  stuckIn(client).push(
    `after a scenario, ${operation} still refused valid requests after ${jobTimeoutMs} ms`,
  )
}

export type Further = (exchange: Exchange) => Finding | undefined

/** Judges a refusal that a scenario causes; `further`: what is wrong with the expected answer. */
export async function byScenario(context: CheckContext, further?: Further): Promise<Verdict> {
  const { client, given, requirement, scenario } = context
  if (!scenario) return open(`declare a scenario for ${requirement.id}`)
  const { operation, repeat } = scenario
  const expects = requirement.expectsByScenario ?? pairsOf(requirement, operation)
  const make = () => scenarioProbe(client, given, scenario)
  const judge = (exchange: Exchange): CaseVerdict => {
    const verdict = pairsVerdict(context, exchange, expects, asScenario)
    const isRight = verdict.outcome === 'held' || verdict.outcome === 'name'
    const found = isRight ? further?.(exchange) : undefined
    return found ? findingVerdict(found, { exchange, what: asScenario }) : verdict
  }
  const found: Control | Open =
    bringsBody(scenario) && !isDeclared(given, operation)
      ? { state: 'none', unsent: 'the operation is not declared', valid: make }
      : await wholeControl(client, given, operation)
  if (isOpen(found)) return found
  if (found.state === 'refused') return notGranted(found)
  client.journal.controls.set(requirement.id, found.state)
  await ownTurn(client)
  return around(context, scenario, operation, async (): Promise<Verdict> => {
    if (repeat !== undefined) {
      const usual = responseTo(found)?.status
      const request = { expects, make, most: repeat, usual, judge }
      return settle(
        client,
        allOf([{ judge: (journal) => judgeRepeated(context, journal, request) }]),
      )
    }
    // A server may call the bytes of the control a duplicate (§7.2).
    const isDuplicate = (exchange: Exchange): boolean =>
      operation === uploadOperation &&
      exchange.response?.status === 409 &&
      !isExpected(expects, exchange.response)
    const own = () =>
      scenarioProbe(client, given, scenario, () => distinctRequest(client, given, operation))
    const ruleOf = (time: number): CaseRule => ({
      judge() {
        const seen = lookUntil(
          client,
          (at) =>
            requestFor(context, `as its scenario says, ${time} ${at}`, at === 0 ? make : own, {
              expects,
            }),
          (exchange, tries) => tries > 1 || !isDuplicate(exchange),
        )
        return seen.outcome === 'answered' ? judge(seen.exchange) : seen
      },
    })
    const isOnce = given.options.depth === 'quick' || scenario.isExclusive
    const times = isOnce ? 1 : (requirement.times ?? 1)
    const rules = Array.from({ length: times }, (_, time) => ruleOf(time))
    return settle(client, allOf(rules, { inOrder: true }))
  })
}

function scenarioProbe(
  client: Client,
  given: Given,
  scenario: Scenario,
  plain = () => declaredRequest(client, given, scenario.operation, 'whole'),
): Making {
  const { operation } = scenario
  const isShared = operationOf(operation).needsOwnObject && !scenario.isExclusive
  const source = isShared
    ? () => sharedRequest(client, `request of scenarios of ${operation}`, plain)
    : plain
  return withChange(applyScenario(client, given, scenario, operation, source), refused)
}

interface Repeated {
  readonly expects: Pairs
  make(): Making
  readonly most: number
  /** The status of the control. */
  readonly usual: number | undefined
  judge(exchange: Exchange): CaseVerdict
}

/** Asks for the request up to `most` times, several at once, until an answer shows the condition. */
function judgeRepeated(
  context: CheckContext,
  journal: Journal,
  { expects, make, most, usual, judge }: Repeated,
): CaseVerdict {
  const tells = ({ response, probe }: Exchange): boolean => {
    if (!response) return false
    const { status } = response
    const isAsUsual = usual === undefined ? status < 300 : status === usual
    if (isAsUsual && (status >= 300 || response.isGranted)) return false
    // A busy application, a transient 503, and a guardrail's block say nothing about the condition.
    if (haveStatus(expects, status)) return true
    const isNamed = expects.some((pair) => pair.includes(response.tpe ?? '', 1))
    const isPassing = status === 503 || status === busyStatus(probe.operation)
    return !isPassing && (isNamed || !response.isBlock)
  }
  const isSuccess = (one: Exchange): boolean => !tells(one) || isExpected(expects, one.response!)
  const asks: Ask[] = []
  for (let at = 0; at < most && asks.length < maxAtOnce; at++) {
    const request = requestFor(context, `repeated, ${at}`, make, { expects, isSuccess })
    const seen = lookAt(journal, { ...request, isPaidBack: true }, context.client.known)
    if (seen.outcome === 'open') return seen
    if (seen.outcome === 'asks') asks.push(...seen.asks)
    else if (tells(seen.exchange)) return judge(seen.exchange)
  }
  const why = `the condition did not occur in ${most} requests (scenario's repeat)`
  return asks.length > 0 ? { outcome: 'asks', asks } : open(why)
}
