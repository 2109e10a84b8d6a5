import { debuglog } from 'node:util'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import {
  type CatalogueResult,
  type Failure,
  isObserved,
  inMode,
  isExpectedFailure,
  leftOut,
  mistakeReason,
  plainReason,
  reasonIn,
} from '../report/index.ts'
import { shownText } from '../recording/index.ts'
import { groupBy } from '../group-by.ts'
import { exclusiveIds } from '../target/index.ts'
import { createCheckContext, type CheckContext, type Judge } from './check-context.ts'
import { createEventQueue, factsOf, type Judging, type RunEvent } from './events.ts'
import { keyRefusal, refusedSince } from './keys.ts'
import { allEnded, pause, Failed, NotExercised } from './outcome.ts'
import { cleanUp, setUp, tearDown } from './own-requests.ts'
import { isPlanned, type Run } from './run.ts'
import { sendFailedAgain } from './client.ts'

type Tell = (result: CatalogueResult) => void

/** Judges everything that is planned, phase by phase. */
export function startJudging(run: Run, judgeOf: JudgeOf): Judging {
  const queue = createEventQueue<RunEvent>()
  const results = new Map<string, CatalogueResult>()
  const tell: Tell = (result) => {
    results.set(result.id, result)
    queue.push({ kind: 'judged', result })
  }
  run.client.throttle.onHold((operation, pauseMs) =>
    queue.push({ kind: 'throttled', operation, pauseMs }),
  )
  queue.push({ kind: 'planned', plan: run.plan })
  const goThrough = async (): Promise<void> => {
    try {
      await exerciseAll(run, judgeOf, tell)
      await lookBack(run, results, tell)
    } finally {
      await finishRun(run).finally(() => {
        queue.push({ kind: 'ended', facts: factsOf(run) })
        queue.close()
      })
    }
  }
  const { life } = run
  return {
    events: queue,
    done: goThrough(),
    results,
    facts: () => factsOf(run),
    end: (cause, reason) => life.end(cause, reason),
  }
}

/** What goes on at once, what needs the target to itself, what is judged last, what is observed on everything. */
type Phase = 'concurrent' | 'exclusive' | 'last' | 'observed'

/** Exercises what is planned, phase by phase, and tells why the rest is not. */
async function exerciseAll(run: Run, judgeOf: JudgeOf, tell: Tell): Promise<void> {
  const { api, client, hooks, life, target } = run
  const alone = exclusiveIds(target)
  const phaseOf = ({ id, judgedLast }: CatalogueRequirement): Phase =>
    alone.has(id) ? 'exclusive' : isObserved(id) ? 'observed' : judgedLast ? 'last' : 'concurrent'
  const planned = api.requirements.filter(({ id }) => isPlanned(run, id))
  const phases = groupBy(planned, phaseOf)
  const of = (phase: Phase) => phases.get(phase) ?? []
  const looksAtEnd: (() => Promise<CatalogueResult>)[] = []
  const exerciseOne = async (requirement: CatalogueRequirement): Promise<void> => {
    const context = createCheckContext(run, requirement)
    const result = await exercise(context, judgeOf(requirement.id))
    const { atEnd } = context
    context.atEnd = undefined
    if (atEnd && result.outcome === 'passed') looksAtEnd.push(() => exercise(context, atEnd))
    else tell(result)
  }
  const isReady =
    !life.ended &&
    (await client.liveness.first().catch((error: unknown) => {
      // The key may be asked for again here, and its source may fail by now.
      if (life.ended) return false
      throw error
    }))
  if (isReady && target.setup.length + target.teardown.length > 0) await setUp(run)
  for (const one of api.requirements) if (!isPlanned(run, one.id)) tell(unplanned(run, one))
  // If a hook cannot begin, the requirements that need it report that.
  const started = hooks.map((hook) => hook.start?.(run).catch(() => undefined))
  await Promise.all([...of('concurrent').map(exerciseOne), ...started])
  for (const requirement of of('exclusive')) await exerciseOne(requirement)
  if (looksAtEnd.length > 0) await awaitAge(run)
  await Promise.all(looksAtEnd.map(async (look) => tell(await look())))
  if (!life.ended) await Promise.all(hooks.map(async (hook) => hook.finish?.(run)))
  for (const requirement of [...of('last'), ...of('observed')]) await exerciseOne(requirement)
}

/** The first object of each operation is looked at again so long after it was made at least, in ms: what shows late shows then. */
const leastAgeMs = 3000

async function awaitAge(run: Run): Promise<void> {
  const { created, madeAt } = run.objects
  const first = new Map<string, number>()
  for (const { operation, id } of created)
    if (!first.has(operation)) first.set(operation, madeAt.get(id) ?? 0)
  if (run.life.ended || first.size === 0) return
  const until = Math.max(...first.values()) + leastAgeMs
  await pause(run, Math.max(0, until - performance.now())).catch(() => undefined)
}

/** Tells what all results together, or another look, make of single ones. */
async function lookBack(
  run: Run,
  results: ReadonlyMap<string, CatalogueResult>,
  tell: Tell,
): Promise<void> {
  // Failures that showed only when later requests used the connections that a request had left behind.
  for (const [id, failures] of run.findings.poisoned) {
    const known = results.get(id)
    if (!known) continue
    const { reason: _reason, why: _why, ...rest } = known
    tell({ ...rest, outcome: 'failed', failures: [...known.failures, ...failures] })
  }
  // A 401 to a key that the target never accepted says nothing about the requirement.
  const refusal = run.keys.hasFull ? keyRefusal(run.findings.log) : undefined
  const isRefused = ({ exchange }: Failure): boolean => exchange?.response?.status === 401
  for (const { failures, ...result } of refusal === undefined ? [] : [...results.values()])
    if (result.operation !== 'envelope' && failures.length > 0 && failures.every(isRefused))
      tell({ ...result, outcome: 'not-exercised', reason: refusal, failures: [] })
  for (const result of run.life.ended?.cause === 'key' ? [...results.values()] : []) {
    const before = beforeRefusal(run, result)
    if (before !== result) tell(before)
  }
  const failed = [...results.values()].filter(({ outcome }) => outcome === 'failed')
  for (const result of await sendFailedAgain(run, failed)) tell(result)
}

/** A result without what came after the full key was refused: that says nothing of the requirement. */
function beforeRefusal(run: Run, result: CatalogueResult): CatalogueResult {
  const { log, shown: exchanges } = run.findings
  const since = refusedSince(log) ?? Infinity
  const { failures, outcome, ...rest } = result
  const isBefore = ({ exchange }: Failure): boolean =>
    exchange === undefined || (exchanges.get(exchange)?.sentAt ?? -Infinity) < since
  const before = failures.filter(isBefore)
  const last = log.answers.findLast(({ requirement }) => requirement === result.id)
  const isOver =
    outcome === 'failed'
      ? before.length === 0
      : outcome === 'passed' && last !== undefined && last.sentAt >= since
  if (isOver) return { ...rest, outcome: 'not-exercised', ...run.life.ended!.reason, failures: [] }
  return before.length < failures.length ? { ...result, failures: before } : result
}

/** Ends a run: what it created is cleaned up, the sockets are closed, whatever is thrown meanwhile. */
async function finishRun(run: Run): Promise<void> {
  const { elsewhere, liveness, recorder, throttle, transport } = run.client
  liveness.stop()
  throttle.release()
  const { created, saved } = run.objects
  const isGone = run.life.ended?.cause === 'unreachable'
  const cleaned = isGone || created.length === 0 ? Promise.resolve() : cleanUp(run)
  try {
    // There is no time for one after the other.
    if (run.life.ended?.cause !== 'interrupted') await Promise.allSettled([cleaned])
    await allEnded([cleaned, saved ? tearDown(run, saved) : Promise.resolve()])
  } finally {
    await allEnded([transport.close(), elsewhere.close()]).finally(recorder.close)
  }
}

const debug = debuglog('conform')

type Judged = Pick<CatalogueResult, 'outcome' | 'reason' | 'why' | 'failures'>

/** How each requirement is judged: undefined for one that has no check, which is a mistake of the suite. */
export type JudgeOf = (id: string) => Judge | undefined

type About = Pick<CatalogueResult, 'id' | 'operation' | 'level' | 'section' | 'statement'>

const aboutOf = ({ id, operation, level, section, statement }: CatalogueRequirement): About => ({
  id,
  operation,
  level,
  section,
  statement,
})

function unplanned(run: Run, requirement: CatalogueRequirement): CatalogueResult {
  const entry = run.plan.get(requirement.id)
  const none = { control: 'none', cases: 0, durationMs: 0 } as const
  const judged: Judged =
    entry?.run === false
      ? { ...reasonIn(entry), outcome: entry.outcome, failures: [] }
      : unexercised('not planned')
  // That it is left out, or absent, is told in words of the suite alone.
  const isOwn = judged.why?.kind === 'left-out' || judged.why?.kind === 'absent'
  return { ...aboutOf(requirement), ...(isOwn ? judged : shown(run, judged)), ...none }
}

/** Exercises one requirement; never throws. What it leaves in `context.atEnd` looks at it once more. */
async function exercise(context: CheckContext, check: Judge | undefined): Promise<CatalogueResult> {
  const { run, requirement } = context
  const judged = shown(run, await outcomeOf(context, check))
  const { control, cases } = context
  const durationMs = Math.round(run.client.recorder.tookMs(requirement.id))
  const about = aboutOf(requirement)
  const result = inMode({ ...about, ...judged, control, cases, durationMs }, run.options.tpe)
  countFailure(run, result)
  return result
}

/** Ends the run when as many failures decide the exit code as were asked for (`--bail`). */
function countFailure(run: Run, result: CatalogueResult): void {
  const { bail, strict, expected, tpe } = run.options
  if (result.outcome !== 'failed' || (result.level !== 'must' && !strict)) return
  if (isExpectedFailure(expected, result, tpe)) return
  if (++run.findings.failures >= bail) run.life.end('bail', leftOut('--bail'))
}

/** Removes keys from its texts, and cuts them. */
function shown(run: Run, { reason, why, failures, outcome }: Judged): Judged {
  const clean = (text: string): string => shownText(text, run.client.recorder.redact)
  return {
    outcome,
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

const unexercised = (reason: Parameters<typeof plainReason>[0]): Judged => ({
  outcome: 'not-exercised',
  ...plainReason(reason),
  failures: [],
})

async function outcomeOf(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  const judged = await checked(context, check)
  const entry = run.plan.get(requirement.id)
  if (entry?.run && entry.leftOut !== undefined) return unexercised(leftOut(entry.leftOut))
  if (run.keys.hasFull || judged.outcome === 'not-exercised') return judged
  // Without a key, a server fails only if it grants what was sent: it asks for no key.
  const isGranted = judged.failures.some(
    ({ exchange }) => Math.floor((exchange?.response?.status ?? 0) / 100) === 2,
  )
  return isGranted ? judged : unexercised('no key: only requests that need no key were sent')
}

async function checked(context: CheckContext, check: Judge | undefined): Promise<Judged> {
  const { run, requirement } = context
  try {
    if (run.life.ended && requirement.operation !== 'envelope') throw run.life.ended
    if (!check) throw new Error('the requirement has no check')
    await check(context)
    const failures = [...context.familyOnly]
    if (failures.length > 0) return { outcome: 'failed', failures }
    if (context.atEnd) return { outcome: 'passed', failures }
    const left = leftOpen(context)
    if (left !== undefined) return unexercised(left)
    return context.cases > 0 ? { outcome: 'passed', failures } : unexercised('no answer was judged')
  } catch (error) {
    context.atEnd = undefined
    return thrown(error, context)
  }
}

/** Why not all of its cases were judged, and of how many that is so; undefined if all were. */
function leftOpen({ open: { planned, judged, why } }: CheckContext): string | undefined {
  if (planned <= judged) return undefined
  const left = `${planned - judged} of ${planned} cases were not judged`
  return why === undefined ? left : judged === 0 ? why : `${why}; ${left}`
}

function thrown(error: unknown, { familyOnly, run }: CheckContext): Judged {
  if (error instanceof Failed)
    return { outcome: 'failed', failures: [error.failure, ...error.more, ...familyOnly] }
  // A check that throws what it should not says nothing about the target, whatever it judged before.
  if (!(error instanceof NotExercised)) {
    debug('%o', error)
    return { outcome: 'not-exercised', ...mistakeReason(error), failures: [] }
  }
  if (familyOnly.length > 0) return { outcome: 'failed', failures: [...familyOnly] }
  // Once a target is gone, or refuses the key, that is why nothing more could be learned.
  const { ended } = run.life
  return unexercised(
    ended?.cause === 'unreachable' || ended?.cause === 'key' ? ended.reason : error.reason,
  )
}
