import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { type Failure, type FailureExchange, sections, type TakesState } from '../report/index.ts'
import { ask, type AskOptions } from './ask.ts'
import {
  describeProbe,
  describeResponse,
  type Exchange,
  Failed,
  isThrottling,
  NotExercised,
  type Purpose,
  rerunLine,
  type Run,
  type Source,
  Throttled,
  withFinding,
} from '../engine/index.ts'
import type { Verdict } from '../journal/index.ts'
import type { Scenario } from '../target/index.ts'
import { curlOfBoth, remarkMark } from '../recording/index.ts'

/**
 * Judges a requirement: returns the verdict of a rule; or nothing, and throws `Failed` or `NotExercised` if it does not
 * hold.
 */
export type Judge = (context: CheckContext) => Promise<Verdict | undefined> | Promise<void>

export interface CheckContext {
  readonly run: Run
  readonly requirement: CatalogueRequirement
  readonly scenario: Scenario | undefined
  cases: number
  /** Cases still to be judged: a requirement with any left never passes. */
  readonly open: OpenCases
  control: 'granted' | 'refused' | 'none'
  /** The accepted control, shown in each failure beside the failed request. */
  granted?: Exchange | undefined
  /** Judges again at the end of the run, concurrently with others. */
  atEnd?: Judge | undefined
  /** What reproduces a failure, besides the requirement's own data. */
  readonly again: Again
  /** Sends a request for this requirement. Requests to a declared application wait until it is idle. */
  send(source: Source, purpose?: Partial<Purpose>, options?: AskOptions): Promise<Exchange>
  failure(exchange: Exchange, expected: string, what: string, actual?: string): Failure
  fail(exchange: Exchange, expected: string, what: string, actual?: string): never
}

interface Again {
  /** Other requirement whose requests caused the judged state. */
  shownBy: string | null
  /** Request that creates the needed state, sent first in the curl line. */
  before?: Exchange | undefined
  /** Overrides the requirement's state; null if the request alone shows the failure. */
  takes?: TakesState | null | undefined
}

/** Number of planned and judged cases, and why one was not judged. */
export interface OpenCases {
  readonly planned: number
  readonly judged: number
  readonly why: string | undefined
  plan(count: number): void
  settle(count: number): void
  /** Gives up the remaining cases; the first reason is kept. */
  leave(why: string): void
}

export function createOpenCases(): OpenCases {
  const open = {
    planned: 0,
    judged: 0,
    why: undefined as string | undefined,
    plan: (count: number): void => void (open.planned += count),
    settle: (count: number): void => void (open.judged += count),
    leave: (why: string): void => void (open.why ??= why),
  }
  return open
}

export function createCheckContext(run: Run, requirement: CatalogueRequirement): CheckContext {
  const { id, section, expects } = requirement
  const context: CheckContext = {
    run,
    requirement,
    control: 'none',
    again: { shownBy: null },
    open: createOpenCases(),
    get scenario() {
      return run.target.scenarios[id]
    },
    cases: 0,
    send: (source, purpose, options) =>
      ask(run, source, { requirement: id, role: 'probe', ...purpose }, options),
    failure(exchange, expected, what, actual) {
      const why = sentTwice(exchange)
      if (why !== undefined) throw new NotExercised(why)
      const asked = [expects ?? []].flat(2).map(String)
      const isOfStatus = !asked.includes(String(exchange.response?.status))
      // After the sections: it does not tell failures apart.
      const remark = isOfStatus ? run.hooks.remarkOn(run, exchange) : ''
      const cites = ` (${sections(section)})${remark}`
      const isAlone = context.again.takes === null
      const story = isAlone ? undefined : run.hooks.storyOf(run, id, exchange)
      const state = isAlone ? undefined : run.hooks.takesState(run, id)
      return {
        message: describeProbe(exchange, what),
        expected: expected + cites,
        cites,
        actual: withFinding(exchange, actual ?? describeResponse(exchange)),
        onlyName: false,
        seed: run.options.seed,
        ...controlOf(context, exchange),
        ...(story !== undefined && { story }),
        ...againBy(context, exchange, state),
        exchange: shownIn(context, exchange, state),
      }
    },
    fail(exchange, expected, what, actual) {
      throw new Failed(context.failure(exchange, expected, what, actual))
    },
  }
  return context
}

/** Says that it conflicts with a copy of itself that got no answer, and may have had its effect; undefined if it does not. */
export function sentTwice({ response, unanswered }: Exchange): string | undefined {
  if (!unanswered || response?.status !== 409) return undefined
  const lost = unanswered.noResponse?.message ?? 'no answer came'
  return `it was sent twice (${lost} at first), and got 409: the first one may have had its effect`
}

function controlOf({ granted }: CheckContext, { probe }: Exchange): Pick<Failure, 'control'> {
  if (granted?.response === undefined || granted.probe.operation !== probe.operation) return {}
  return { control: { request: granted.recorded().request, status: granted.response.status } }
}

/** What reproduces a failure: required ids, and the state that the request alone does not create. */
function againBy(
  { run, requirement, again: { shownBy, takes: own } }: CheckContext,
  exchange: Exchange,
  state: TakesState | undefined,
): Pick<Failure, 'rerun' | 'rerunIds' | 'takes'> {
  const { finding, purpose } = exchange
  const others =
    own === null
      ? []
      : [
          ...[shownBy, purpose.requirement].filter((id) => id !== null),
          ...run.hooks.rerunNeeds(run, requirement.id, exchange),
        ]
  const rerunIds = [...new Set([requirement.id, ...others])]
  const isOfLimit = isThrottling(exchange)
  const seen =
    finding?.kind === 'answers-differ' ? 'chance' : isOfLimit ? 'more-requests' : undefined
  const takes = own ?? state ?? seen
  return { ...(takes && { takes }), rerunIds, rerun: rerunLine(run.options, ...rerunIds) }
}

/** Throws `NotExercised` without an answer, or with nothing but throttling. */
export function answered(
  exchange: Exchange,
): asserts exchange is Exchange & { response: NonNullable<Exchange['response']> } {
  if (exchange.throttled) throw new Throttled(`${describeResponse(exchange)} on every try`)
  if (!exchange.response) throw new NotExercised(describeResponse(exchange))
}

/** The exchange as shown in a failure: its curl line warns if it alone shows something else. */
function shownIn(
  { run, requirement, again }: CheckContext,
  exchange: Exchange,
  state: TakesState | undefined,
): FailureExchange {
  const recorded = exchange.recorded()
  const why = removedSince(run, recorded) ?? prepared(run, requirement) ?? named(run, exchange)
  const first = (again.before ?? exchange).recorded()
  const curl = state === 'job-in-progress' ? curlOfBoth(first, recorded) : recorded.curl
  const shown = { ...recorded, curl: why === undefined ? curl : curl + remarkMark + why }
  run.findings.shown.set(shown, exchange)
  return shown
}

function named({ api }: Run, { response, probe }: Exchange): string | undefined {
  const { creates, operation } = probe
  const isMade = creates !== undefined && response !== undefined && response.status < 300
  return isMade && operation !== null && api.operation(operation).creates?.hasUniqueName
    ? `${JSON.stringify(creates)} exists now: use another name`
    : undefined
}

/** Warns that an object in the request may be gone: removed by clean-up, or its server has ended. */
function removedSince(
  { objects, options, target }: Run,
  { request: { body, url } }: FailureExchange,
): string | undefined {
  const { endsTarget = false } = options
  const gone = objects.created.find(({ id, operation }) => {
    const { cleanup = [] } = target.operations[operation as OperationId] ?? {}
    return (endsTarget || cleanup.length > 0) && (url.includes(id) || body.includes(id))
  })
  if (!gone) return undefined
  const what = `${gone.operation} made ${gone.id} for this run`
  return endsTarget
    ? `${what}, and its server has ended: the rerun command starts the server and creates the object again`
    : `${what}, and was removed since: the rerun command creates the object again`
}

function prepared({ target }: Run, { id }: CatalogueRequirement): string | undefined {
  const { before } = target.scenarios[id] ?? { before: [] }
  if (before.length === 0) return undefined
  const [what, them] = before.length === 1 ? ['request', 'it'] : ['requests', 'them']
  return `first comes the scenario's \`before\` ${what}: the rerun command sends ${them} too`
}
