import fc from 'fast-check'
import {
  byScenario,
  characters,
  controlExchange,
  grantedByScenario,
  grantedControl,
  grantedProbe,
  inScenario,
  judgeThrottled,
  plainer,
  property,
  samples,
} from '../../harness/checks/index.ts'
import type { CheckContext, Exchange, Judge, Run } from '../../harness/engine/index.ts'
import {
  answered,
  gatewayErrorsOf,
  isGranted,
  judgeGranted,
  judgePairs,
  judgeShape,
  NotExercised,
} from '../../harness/engine/index.ts'
import { mainLifecycle } from './lifecycle.ts'
import { jobRequest, jobsOf, longestMs } from './job-tracker.ts'
import { getAt, preview } from '../../schemas/json.ts'
import { busyApplication, provokeConflicts, releasedAtLast } from './provoke-conflicts.ts'
import { failureIn, ids } from './findings.ts'

const valid = 'with a valid body'

/** Every creation of the run that should be granted gives 202 and the shape shown. */
export async function judgeCreated(context: CheckContext): Promise<void> {
  const { run } = context
  judgeCreation(context, await controlExchange(run, 'jobs.create'))
  for (const exchange of faultlessCreations(run)) {
    context.shownBy = exchange.purpose.requirement
    judgeCreation(context, exchange)
  }
}

/** Requirements that create without a fault. */
const faultless: readonly (string | null)[] = [
  ...Object.values(ids),
  ...['jobs.retrieve/200-failed', 'applications.create/2xx-usable'],
]
/** More of them, which say themselves if they are not granted. */
const judgedOtherwise: readonly (string | null)[] = [
  ...[
    'jobs.create/202-required-inputs-only',
    'jobs.create/202-any-text',
    'jobs.retrieve/200-created-at',
  ],
]
/** The ones of them that create beside a job or another creation, where 409 is the right answer. */
const besideOthers: readonly (string | null)[] = [ids.inProgress, ids.atomic]

/**
 * Creations whose requests had no fault, besides the control: those that were granted, and those alone that broke an
 * application which has granted another one, if no request before it on the connection may be to blame.
 */
function faultlessCreations(run: Run): readonly Exchange[] {
  const { creations, broken } = jobsOf(run)
  const applicationOf = ({ probe }: Exchange): string | undefined => probe.params['application_id']
  const granting = new Set(creations.map(applicationOf))
  const breakdowns = broken.filter(
    (exchange) =>
      granting.has(applicationOf(exchange)) &&
      !gatewayErrorsOf(run).has(exchange.response!) &&
      !exchange.previousRequest &&
      !besideOthers.includes(exchange.purpose.requirement),
  )
  const isOwn = ({ purpose }: Exchange): boolean => judgedOtherwise.includes(purpose.requirement)
  const others = [...creations, ...breakdowns].filter(({ purpose }) =>
    faultless.includes(purpose.requirement),
  )
  return [...others, ...creations.filter(isOwn)]
}

function judgeCreation(context: CheckContext, exchange: Exchange): void {
  judgeGranted(context, exchange, '202 with the id, status and created_at of the new job', valid)
  judgeShape(context, exchange, 'created-job', valid)
}

/** Judges that one of the first readings of the new job finds it. */
export async function judgeRetrievable(context: CheckContext): Promise<void> {
  const { first } = await mainLifecycle(context.run)
  for (const { exchange } of first) {
    if (exchange.response?.status === 200) {
      context.cases++
      return
    }
  }
  const last = first.at(-1)
  if (!last) return
  const expected = `200: the id that the creation returned can be retrieved, at the latest ${context.run.target.limits.settleMs} ms later (limits.settleMs)`
  judgeGranted(context, last.exchange, expected, '')
}

/** Texts of the kinds that servers trip over. */
const awkward = [
  ...[
    '😀 🏳️‍🌈',
    'שלום مرحبا',
    '"quoted" and \\ back',
    '%s %20 {} ${x} {{y}}',
    "<b>&amp;</b> '; --",
    'a\tb\nc',
    '\u0001\u007f',
    'a\u0000b',
    ' at both ends ',
    'two\r\nlines\u2028and more',
    '1234567890',
    '__proto__',
    `tea${plainer}`,
    `tea${characters}`,
  ],
  'long '.repeat(400),
]

/** More texts than most have a place for. */
const manyTexts = 120

const emptyText = 'empty @ /inputs/*/value/*'
const isEmpty = ([text, ...more]: readonly string[]): boolean => text === '' && more.length === 0

/** Judges that no text, awkward or generated, is answered by a 5xx. */
export async function judgeAnyText(context: CheckContext): Promise<void> {
  const { run } = context
  const application = run.target.resources.application
  if (!application) throw new NotExercised('declare resources.application')
  const granted = await grantedControl(run, 'jobs.create')
  context.control = granted.state
  const ask = async (texts: readonly string[]): Promise<Exchange> => {
    const inputs = application.inputs.map((input) => {
      const values = getAt(input, '/value')
      return { ...input, ...(Array.isArray(values) ? { value: texts } : {}) }
    })
    const make = grantedProbe(context, 'jobs.create', async () => ({
      ...(await jobRequest(run, { ...application, inputs })),
      fault: isEmpty(texts) ? emptyText : undefined,
    }))
    // Of the right type: but a server that breaks on it breaks on what somebody typed.
    const purpose = { badInput: true }
    const last = await context.send(make, purpose)
    const settled = await judgeThrottled(context, {
      source: last.probe,
      control: granted,
      last,
      purpose,
    })
    answered(settled)
    context.cases++
    return settled
  }
  const judge = (exchange: Exchange, texts: readonly string[]): void => {
    if ((exchange.response?.status ?? 0) < 500) return
    const expected = 'any answer except a 5xx, whatever text the inputs hold'
    context.fail(exchange, expected, `with inputs that hold ${preview(texts)}`)
  }
  const accept = async (...texts: readonly string[]): Promise<void> =>
    judge(await ask(texts), texts)
  /** Sends all in one request. A refusal of one hides what the others do: then each goes by itself. */
  const acceptAll = async (
    texts: readonly string[],
    acceptEach: () => Promise<void>,
  ): Promise<void> => {
    const together = await ask(texts)
    if (together.response && isGranted(together.response)) return
    await acceptEach()
    judge(together, texts)
  }
  if (context.scenario) return inScenario(context, 'jobs.create', () => accept('text'))
  await acceptAll(awkward, async () => {
    for (const text of awkward) await accept(text)
  })
  if (run.options.depth === 'quick') return
  // By itself: many a server refuses it.
  await accept('')
  await accept(...Array.from({ length: manyTexts }, (_, at) => `text ${at}`))
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  const texts = samples(context, 'grantedRuns', text)
  await acceptAll(texts, () => property(context, 'grantedRuns', text, accept))
}

/** A job that long leaves time enough, in ms. */
const longEnoughMs = 3000

/** Tells what helps if jobs end before anything can be sent beside them. */
function remedy(run: Run): string {
  const { id } = busyApplication(run)
  const ms = longestMs(jobsOf(run).of(id))
  if (ms === undefined || ms > longEnoughMs) return ''
  const took = `its longest job was read as ended after ${Math.round(ms).toLocaleString('en')} ms`
  const wanted = 'one whose jobs last a second or more, and some ten round trips over a network'
  return `; application ${id}: ${took}: declare as resources.slowApplication ${wanted}`
}

/** Why nothing is known if no attempt found anything. */
function unseen(run: Run, id: string): string {
  if (id === ids.released) return 'no reading showed a job of the application ended'
  if (id !== ids.atomic) return 'no creation was granted, so no job was in progress'
  return run.target.limits.concurrency > 1
    ? 'no concurrent creation was answered 409'
    : 'concurrent creations need limits.concurrency of 2 or more'
}

/** Pair that §4.2 and §8 give a creation on a busy application. */
const conflict = [[409, 'BadRequest']] as const

/**
 * Judges one of the 409 requirements: failed or passed if a later reading proves it, not exercised
 * if three attempts showed neither. The requirements that say when there is no conflict also need one 409 in the run: a
 * server that never answers one keeps them by checking nothing. A scenario of the target file brings about the conflict,
 * or the state without one.
 */
export const judgeConflicts: Judge = async (context) => {
  const { run, requirement } = context
  const { id } = requirement
  const isFree = id === ids.released || id === ids.perApplication
  if (context.scenario) return (isFree ? grantedByScenario : byScenario)(context)
  const { findings, wasBusy } = await provokeConflicts(run)
  const atLast = id === ids.released && !failureIn(findings, id) ? await releasedAtLast(run) : []
  const own = [...findings, ...atLast].filter((finding) => finding.of === id)
  context.cases += own.reduce((sum, { cases }) => sum + cases, 0)
  const failure = failureIn(own)
  // Whose job kept the application from being released, nobody can tell.
  if (id === ids.released && failure && failureIn(findings, ids.perApplication))
    throw new NotExercised(
      'a job of one application blocks another: see jobs.create/409-per-application',
    )
  if (failure) context.fail(failure.exchange, failure.expected, failure.what)
  if (id === ids.inProgress) {
    context.control = 'granted'
    const what = 'with a valid body, while a job of the application was in progress'
    for (const { conflict: exchange } of own)
      if (exchange) judgePairs(context, exchange, conflict, what)
  }
  if (!own.some(({ confirmed }) => confirmed)) {
    const why = own.findLast(({ open }) => open !== undefined)?.open ?? unseen(run, id)
    // A longer job would not help a creation that is sent by itself.
    const needsSlower = id !== ids.atomic || run.target.limits.concurrency > 1
    throw new NotExercised(`three attempts proved nothing: ${why}${needsSlower ? remedy(run) : ''}`)
  }
  if (id !== ids.inProgress && !wasBusy)
    throw new NotExercised('no creation on that application was answered 409 in this run')
}
