import { debuglog } from 'node:util'
import { inMode } from '../report/verdict.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { CatalogueResult } from '../report/model.ts'
import { createCheckContext, type Judge, type CheckContext, familyOnlyOf, takeLookAtEnd } from './check-context.ts'
import { shownText } from '../recording/recorded.ts'
import { isExpectedFailure } from '../report/baseline.ts'
import { leftOut, mistakeReason, plainReason, reasonIn } from '../report/reason.ts'
import { Failed, NotExercised } from './outcome.ts'
import { perRun, type Run } from './run.ts'

const debug = debuglog('conform')

type Judged = Pick<CatalogueResult, 'outcome' | 'reason' | 'why' | 'failures'> & { readonly atEnd?: Judge }

/** A requirement that has been looked at; `atEnd` gives the whole result if it is looked at once more. */
interface Looked {
  readonly result: CatalogueResult
  readonly atEnd?: () => Promise<CatalogueResult>
}

/** Judges one requirement; never throws. */
export async function judgeRequirement(
  run: Run,
  requirement: CatalogueRequirement,
  check: Judge | undefined,
): Promise<Looked> {
  const context = createCheckContext(run, requirement)
  const first = await look(context, check)
  const { atEnd } = first
  if (!atEnd) return { result: first.result }
  return {
    result: first.result,
    atEnd: async () => (await look(context, atEnd)).result,
  }
}

async function look(
  context: CheckContext,
  check: Judge | undefined,
): Promise<{ result: CatalogueResult; atEnd?: Judge }> {
  const { run, requirement } = context
  const { id, operation, level, section, statement } = requirement
  const { atEnd, ...judged } = await judge(context, check)
  const { control, cases } = context
  const durationMs = Math.round(run.client.recorder.tookMs(id))
  const result = { id, operation, level, section, statement, ...shown(run, judged), control, cases, durationMs }
  const told = inMode(result, run.options.tpe)
  countFailure(run, told)
  return { result: told, ...(atEnd ? { atEnd } : {}) }
}

/** How many requirements have failed that decide the exit code. */
const failuresOf = perRun(() => ({ count: 0 }))

/** Ends the run at the first failure that decides (`--bail`), or when there are as many as were asked for. */
function countFailure(run: Run, result: CatalogueResult): void {
  const { bail, maxFailures, strict, expected, tpe } = run.options
  if (result.outcome !== 'failed' || (result.level !== 'must' && !strict)) return
  if (isExpectedFailure(expected, result, tpe)) return
  const failures = failuresOf(run)
  failures.count++
  if (bail) run.life.end('bail', leftOut('--bail'))
  else if (maxFailures !== null && failures.count >= maxFailures) run.life.end('bail', leftOut('--max-failures'))
}

/** Keys are removed from what is told, and it is cut. */
function shown(run: Run, { reason, why, failures, ...judged }: Judged): Judged {
  const clean = (text: string): string => shownText(text, (whole) => run.client.recorder.redact(whole))
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

async function judge(context: CheckContext, check: Judge = noCheck): Promise<Judged> {
  const { run, requirement } = context
  const entry = run.plan.get(requirement.id)
  if (!entry?.run)
    return {
      ...reasonIn(entry ?? plainReason('not planned')),
      outcome: entry?.outcome ?? 'not-exercised',
      failures: [],
    }
  const judged = await outcomeOf(context, check)
  if (entry.leftOut !== undefined) return { outcome: 'not-exercised', ...leftOut(entry.leftOut), failures: [] }
  return run.keys.hasFull ? judged : withoutKey(judged)
}

/** Without a key nothing can be judged but a server that asks for none: an answer of success is its failure. */
function withoutKey(judged: Judged): Judged {
  if (judged.outcome === 'not-exercised') return judged
  const granted = judged.failures.some(({ exchange }) => Math.floor((exchange?.response?.status ?? 0) / 100) === 2)
  return granted
    ? judged
    : { outcome: 'not-exercised', reason: 'no key: only requests that need no key were sent', failures: [] }
}

async function outcomeOf(context: CheckContext, check: Judge): Promise<Judged> {
  const { run, requirement } = context
  try {
    if (run.life.ended && requirement.operation !== 'envelope') throw run.life.ended
    await check(context)
    const atEnd = takeLookAtEnd(context)
    const failures = [...familyOnlyOf(context)]
    const more = atEnd ? { atEnd } : {}
    if (failures.length > 0) return { outcome: 'failed', failures, ...more }
    if (context.cases > 0 || atEnd) return { outcome: 'passed', failures, ...more }
    return { outcome: 'not-exercised', reason: 'no answer was judged', failures }
  } catch (error) {
    return ended(error, context)
  }
}

const noCheck: Judge = async () => {
  throw new Error('the requirement has no check')
}

function ended(error: unknown, context: CheckContext): Judged {
  const kept = [...familyOnlyOf(context)]
  if (error instanceof Failed) return { outcome: 'failed', failures: [error.failure, ...error.more, ...kept] }
  // A check that throws what it should not says nothing about the target, whatever it judged before.
  if (!(error instanceof NotExercised)) {
    debug('%o', error)
    return { outcome: 'not-exercised', ...mistakeReason(error), failures: [] }
  }
  // Once a target is gone, or refuses the key, that is why nothing more could be learned.
  const { ended: end } = context.run.life
  const { reason } = end?.cause === 'unreachable' || end?.cause === 'key' ? end : error
  return kept.length > 0 ? { outcome: 'failed', failures: kept } : { outcome: 'not-exercised', ...reason, failures: [] }
}
