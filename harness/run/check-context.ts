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

/** How a requirement is judged: gives the verdict of a rule; or none, and throws `Failed` or `NotExercised` if it does not hold. */
export type Judge = (context: CheckContext) => Promise<Verdict | undefined> | Promise<void>

/** Everything that one requirement has to work with while it is judged. */
export interface CheckContext {
  readonly run: Run
  readonly requirement: CatalogueRequirement
  readonly scenario: Scenario | undefined
  /** Answers judged so far. */
  cases: number
  /** What of its cases is still to be judged: a requirement of which a single one is left never passes. */
  readonly open: OpenCases
  /** How the control was answered; `none` if the requirement has none. */
  control: 'granted' | 'refused' | 'none'
  /** The control that was granted: it stands in each failure, beside the request that failed. */
  granted?: Exchange | undefined
  /** Failures in which only the code name is wrong: kept, and the search goes on. */
  readonly onlyName: Failure[]
  /** Judges the requirement once more when everything else was sent, at once with the others that are. */
  atEnd?: Judge | undefined
  /** What shows a failure again, beside what the requirement says. */
  readonly again: Again
  /** Sends a request for this requirement. Requests to a declared application wait until it is idle. */
  send(source: Source, purpose?: Partial<Purpose>, options?: AskOptions): Promise<Exchange>
  /** The evidence of a failure: what was sent, asked for, received. */
  failure(exchange: Exchange, expected: string, what: string, actual?: string): Failure
  fail(exchange: Exchange, expected: string, what: string, actual?: string): never
}

/** What the next failure takes to show again. */
interface Again {
  /** Other requirement whose requests caused what is being judged. */
  shownBy: string | null
  /** Request of a state that a curl line can bring about by itself: sent before the one that failed. */
  before?: Exchange | undefined
  /** If not what the requirement says; null if its request alone shows it. */
  takes?: TakesState | null | undefined
}

/** Cases that were planned, how many of them were judged, and why one was not. */
export interface OpenCases {
  readonly planned: number
  readonly judged: number
  readonly why: string | undefined
  plan(count: number): void
  settle(count: number): void
  /** Says why what is left will not be judged; the first reason stays. */
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
    onlyName: [],
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
      const cites = ` (${sections(section)})`
      const remarks = run.hooks.map((hook) => hook.remarkOn?.(run, exchange) ?? '')
      const [story] = run.hooks.flatMap((hook) => hook.storyOf?.(run, id, exchange) ?? [])
      const [state] = run.hooks.flatMap((hook) => hook.takesState?.(run, id) ?? [])
      return {
        message: describeProbe(exchange, what),
        expected: `${expected}${remarks.join('')}${cites}`,
        cites,
        actual: withFinding(exchange, actual ?? describeResponse(exchange)),
        onlyName: false,
        // Statuses and names that the requirement asks for, if it asks for any.
        ...(expects !== undefined && { asked: [expects].flat(2).map(String) }),
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
  return `it was sent twice (${lost} at first), and answered 409: the first one may have had its effect`
}

function controlOf({ granted }: CheckContext, { probe }: Exchange): Pick<Failure, 'control'> {
  if (granted?.response === undefined || granted.probe.operation !== probe.operation) return {}
  return { control: { request: granted.recorded.request, status: granted.response.status } }
}

/** What shows a failure again: the requirements that it needs, and the state that its request alone does not bring about. */
function againBy(
  { run, requirement, again: { shownBy, takes: own } }: CheckContext,
  exchange: Exchange,
  state: TakesState | undefined,
): Pick<Failure, 'rerun' | 'rerunIds' | 'takes'> {
  const { finding, purpose } = exchange
  const needed = run.hooks.flatMap((hook) => hook.rerunNeeds?.(run, requirement.id, exchange) ?? [])
  const shown = [shownBy, purpose.requirement].filter((id) => id !== null)
  const rerunIds = [...new Set([requirement.id, ...shown, ...needed])]
  const isOfLimit = isThrottling(exchange)
  const seen =
    finding?.kind === 'answers-differ' ? 'chance' : isOfLimit ? 'more-requests' : undefined
  const takes = (own === undefined ? state : own) ?? seen
  return { ...(takes && { takes }), rerunIds, rerun: rerunLine(run.options, ...rerunIds) }
}

/** Throws `NotExercised` if no judgement is possible: no answer, or nothing but throttling. */
export function answered(
  exchange: Exchange,
): asserts exchange is Exchange & { response: NonNullable<Exchange['response']> } {
  if (exchange.throttled) throw new Throttled(`${describeResponse(exchange)} on every try`)
  if (!exchange.response) throw new NotExercised(describeResponse(exchange))
}

/** The exchange as a failure shows it: its curl line says so if it alone shows something else by now. */
function shownIn(
  { run, requirement, again }: CheckContext,
  exchange: Exchange,
  state: TakesState | undefined,
): FailureExchange {
  const { recorded } = exchange
  const why = removedSince(run, recorded) ?? prepared(run, requirement) ?? named(run, exchange)
  const first = (again.before ?? exchange).recorded
  const curl = state === 'job-in-progress' ? curlOfBoth(first, recorded) : recorded.curl
  const shown = { ...recorded, curl: why === undefined ? curl : curl + remarkMark + why }
  run.findings.shown.set(shown, exchange)
  return shown
}

/** Warns that the request was granted, and its name must not be used twice. */
function named({ api }: Run, { response, probe }: Exchange): string | undefined {
  const { creates, operation } = probe
  const isMade = creates !== undefined && response !== undefined && response.status < 300
  return isMade && operation !== null && api.operation(operation).creates?.hasUniqueName
    ? `${JSON.stringify(creates)} exists by now: write another name`
    : undefined
}

/** Warns that an object the request names may be gone: the clean-up removes it at the end of the run, or its server has ended. */
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
    ? `${what}, and the server that it started has ended: the rerun command starts and makes another`
    : `${what}, which has removed it since: the rerun command makes another`
}

function prepared({ target }: Run, { id }: CatalogueRequirement): string | undefined {
  const { before } = target.scenarios[id] ?? { before: [] }
  if (before.length === 0) return undefined
  const [what, them] = before.length === 1 ? ['request', 'it'] : ['requests', 'them']
  return `first comes the scenario's \`before\` ${what}: the rerun command sends ${them} too`
}
