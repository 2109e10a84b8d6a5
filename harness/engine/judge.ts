import type { Pairs } from '../../catalogue/expected.ts'
import type { HttpResponse } from './response.ts'
import {
  hasStatusOf,
  isGranted,
  tpeOf,
  describePairs,
  envelopeRemark,
  matchPairs,
} from './response.ts'
import type { Exchange } from './exchange.ts'
import { Failed, NotExercised } from './outcome.ts'
import { describeResponse, familyRemark } from './describe.ts'
import type { CheckContext, Judge } from './check-context.ts'
import { answered } from './check-context.ts'
import { type SchemaName, validate } from '../../schemas/validate.ts'
import { debuglog } from 'node:util'
import type { CatalogueResult } from '../report/index.ts'
import {
  inMode,
  isExpectedFailure,
  leftOut,
  mistakeReason,
  plainReason,
  reasonIn,
} from '../report/index.ts'
import { shownText } from '../recording/index.ts'
import { perRun, type Run } from './run.ts'

const bareRemark = '; the status is right, but this is no error envelope: see envelope/shape'

/** Judges an answer by the pairs that the spec asks for. A failure of the name only is kept; any other failure is thrown. */
export function judgePairs(
  context: CheckContext,
  exchange: Exchange,
  pairs: Pairs,
  what: string,
): void {
  const { response } = exchange
  if (!response) {
    if (context.control !== 'granted' || !exchange.unansweredTwice)
      throw new NotExercised(describeResponse(exchange))
    context.fail(exchange, describePairs(pairs), what)
  }
  context.cases++
  const match = matchPairs(pairs, response)
  if (match === 'exact') return
  // A control would have told that before.
  if (match === 'none' && context.control === 'none' && context.run.options.readOnly)
    requireRight(exchange)
  const isBare = tpeOf(response) === undefined && hasStatusOf(pairs, response)
  const remark =
    match === 'family'
      ? familyRemark(exchange, pairs)
      : isBare
        ? bareRemark
        : envelopeRemark(pairs, response)
  const isOtherName = match === 'family' || (remark === '' && hasStatusOf(pairs, response))
  const failure = {
    ...context.failure(exchange, describePairs(pairs), what, describeResponse(exchange) + remark),
    toRefuse: true as const,
    asked: pairs.flat().map(String),
    ...(isOtherName ? { at: '/tpe' } : {}),
  }
  if (match === 'none') throw new Failed(isBare ? { ...failure, noEnvelope: true } : failure)
  const { familyOnly: kept } = context
  if (kept.length === 0) kept.push({ ...failure, familyOnly: true })
}

/** Throws `NotExercised` if the full key lacks the right: that is no fault of the server. */
function requireRight({ probe, response }: Exchange): void {
  if (
    !probe.credential.full ||
    response?.status !== 403 ||
    tpeOf(response) !== 'InsufficientAccessRights'
  )
    return
  throw new NotExercised(
    'the full key lacks a right (403 InsufficientAccessRights): use a key with all rights',
  )
}

/** Throws `NotExercised` if what this run made has filled the account: before, 507 is an answer like any other. */
function requireStorage({ run }: CheckContext, exchange: Exchange): void {
  const { probe, response } = exchange
  if (response?.status !== 507 || tpeOf(response) === undefined) return
  if (run.objects.created.some(({ operation }) => operation === probe.operation))
    throw new NotExercised(
      `the account of the full key is full by now: answered ${describeResponse(exchange)}`,
    )
}

/** Throws if an answer is no success, or not of the status that the requirement gives, or if two connections gave none. */
export function judgeGranted(
  context: CheckContext,
  exchange: Exchange,
  expected: string,
  what: string,
): void {
  const { expects } = context.requirement
  const expectedText =
    typeof expects === 'number' && expected === '2xx' ? String(expects) : expected
  if (exchange.unansweredTwice) context.fail(exchange, expectedText, what)
  answered(exchange)
  const { response } = exchange
  requireRight(exchange)
  requireStorage(context, exchange)
  context.cases++
  const other = typeof expects === 'number' && response.status !== expects
  if (!isGranted(response) || other) context.fail(exchange, expectedText, what)
}

export type BodySchema = Exclude<SchemaName, 'report' | 'target' | 'certificate'>

/** Names of bodies, in words for a reader; the section beside it says where its members are shown. */
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
 * Tells what is wrong with a body that is not JSON or does not fit the schema; undefined if it fits. Of a success that is more
 * than is read of an answer nobody knows the shape: throws `NotExercised`.
 */
export function shapeFault(response: HttpResponse, schema: BodySchema) {
  const json = response.json()
  const expected = `a JSON body with the members and types of ${named[schema]}`
  if (!json.ok && json.unread && isGranted(response)) throw new NotExercised(json.problem)
  if (!json.ok) return { expected, actual: `${response.status}, but ${json.problem}` }
  const found = validate(schema, json.value)
  return found.valid
    ? undefined
    : { expected, actual: `${response.status}, but ${found.problem}`, at: found.place }
}

/** Fails if the body has not the shape that the spec shows; the failure names the place and the problem. */
export function judgeShape(
  context: CheckContext,
  exchange: Exchange,
  schema: BodySchema,
  what: string,
): void {
  answered(exchange)
  const fault = shapeFault(exchange.response, schema)
  if (!fault) return
  const { actual, expected, ...place } = fault
  throw new Failed({ ...context.failure(exchange, expected, what, actual), ...place })
}

export function fits(exchange: Exchange, schema: SchemaName): boolean {
  const json = exchange.response?.json()
  return json?.ok === true && validate(schema, json.value).valid
}

const debug = debuglog('conform')

type Judged = Pick<CatalogueResult, 'outcome' | 'reason' | 'why' | 'failures'> & {
  readonly atEnd?: Judge
}

/** A requirement that has been looked at; `atEnd` gives the whole result if it is looked at once more. */
interface Looked {
  readonly result: CatalogueResult
  readonly atEnd?: () => Promise<CatalogueResult>
}

/** How each requirement is judged: undefined for one that has no check, which is a mistake of the suite. */
export type JudgeOf = (id: string) => Judge | undefined

/** Judges one requirement, and for a look at the end once more with the same context; never throws. */
export async function judgeRequirement(
  context: CheckContext,
  check: Judge | undefined,
): Promise<Looked> {
  const { run, requirement } = context
  const { id, operation, level, section, statement } = requirement
  const { atEnd, ...judged } = await judge(context, check)
  const { control, cases } = context
  const durationMs = Math.round(run.client.recorder.tookMs(id))
  const result = {
    id,
    operation,
    level,
    section,
    statement,
    ...shown(run, judged),
    control,
    cases,
    durationMs,
  }
  const ofMode = inMode(result, run.options.tpe)
  countFailure(run, ofMode)
  return {
    result: ofMode,
    ...(atEnd && { atEnd: async () => (await judgeRequirement(context, atEnd)).result }),
  }
}

/** How many requirements have failed that decide the exit code. */
const failuresOf = perRun(() => ({ count: 0 }))

/** Ends the run when as many failures decide as were asked for (`--bail`). */
function countFailure(run: Run, result: CatalogueResult): void {
  const { bail, strict, expected, tpe } = run.options
  if (result.outcome !== 'failed' || (result.level !== 'must' && !strict)) return
  if (isExpectedFailure(expected, result, tpe)) return
  const failures = failuresOf(run)
  failures.count++
  if (failures.count >= bail) run.life.end('bail', leftOut('--bail'))
}

/** Removes keys from a text, and cuts it. */
function shown(run: Run, { reason, why, failures, ...judged }: Judged): Judged {
  const clean = (text: string): string =>
    shownText(text, (whole) => run.client.recorder.redact(whole))
  return {
    ...judged,
    ...(reason === undefined ? {} : { reason: clean(reason) }),
    ...(why && { why: why.kind === 'unreachable' ? { ...why, note: clean(why.note) } : why }),
    failures: failures.map((failure) => ({
      ...failure,
      message: clean(failure.message),
      expected: clean(failure.expected),
      actual: clean(failure.actual),
    })),
  }
}

async function judge(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  const entry = run.plan.get(requirement.id)
  if (!entry?.run)
    return {
      ...reasonIn(entry ?? plainReason('not planned')),
      outcome: entry?.outcome ?? 'not-exercised',
      failures: [],
    }
  const judged = await outcomeOf(context, check)
  if (entry.leftOut !== undefined)
    return { outcome: 'not-exercised', ...leftOut(entry.leftOut), failures: [] }
  return run.keys.hasFull ? judged : withoutKey(judged)
}

/** Keeps, without a key, only failures in which the server granted a request: it asks for no key. */
function withoutKey(judged: Judged): Judged {
  if (judged.outcome === 'not-exercised') return judged
  const granted = judged.failures.some(
    ({ exchange }) => Math.floor((exchange?.response?.status ?? 0) / 100) === 2,
  )
  return granted
    ? judged
    : {
        outcome: 'not-exercised',
        reason: 'no key: only requests that need no key were sent',
        failures: [],
      }
}

async function outcomeOf(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  try {
    if (run.life.ended && requirement.operation !== 'envelope') throw run.life.ended
    if (!check) throw new Error('the requirement has no check')
    await check(context)
    const { atEnd } = context
    context.atEnd = undefined
    const failures = [...context.familyOnly]
    const more = atEnd ? { atEnd } : {}
    if (failures.length > 0) return { outcome: 'failed', failures, ...more }
    if (atEnd) return { outcome: 'passed', failures, ...more }
    const left = leftOpen(context)
    if (left !== undefined) return { outcome: 'not-exercised', reason: left, failures }
    if (context.cases > 0) return { outcome: 'passed', failures }
    return { outcome: 'not-exercised', reason: 'no answer was judged', failures }
  } catch (error) {
    return ended(error, context)
  }
}

/** Why not all of its cases were judged, and of how many that is so; undefined if all were. */
function leftOpen({ open: { planned, judged, why } }: CheckContext): string | undefined {
  if (planned <= judged) return undefined
  const left = `${planned - judged} of ${planned} cases were not judged`
  return why === undefined ? left : judged === 0 ? why : `${why}; ${left}`
}

function ended(error: unknown, context: CheckContext): Judged {
  const kept = [...context.familyOnly]
  if (error instanceof Failed)
    return { outcome: 'failed', failures: [error.failure, ...error.more, ...kept] }
  // A check that throws what it should not says nothing about the target, whatever it judged before.
  if (!(error instanceof NotExercised)) {
    debug('%o', error)
    return { outcome: 'not-exercised', ...mistakeReason(error), failures: [] }
  }
  // Once a target is gone, or refuses the key, that is why nothing more could be learned.
  const { ended: end } = context.run.life
  const { reason } = end?.cause === 'unreachable' || end?.cause === 'key' ? end : error
  return kept.length > 0
    ? { outcome: 'failed', failures: kept }
    : { outcome: 'not-exercised', ...reason, failures: [] }
}
