import { isGranted } from '../../harness/engine/answer.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { pause } from '../../harness/engine/lifetime.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { sendWithRetries } from '../../harness/engine/send-with-retries.ts'
import type { Judge } from '../../harness/engine/check-context.ts'
import { refused, withBody } from '../../harness/checks/conditions.ts'
import { control, notGranted } from '../../harness/checks/control.ts'
import { granted } from '../../harness/checks/granted.ts'
import { declaredResource } from '../../harness/checks/valid-request.ts'
import type { ApplicationResource } from '../../harness/target/model.ts'
import {
  ofBodies,
  refusedByGrammar,
  refusedByKey,
  refusedByRights,
  refusedByType,
  type Refusal,
} from '../created/refusals.ts'
import { mostLooks } from '../created/relations.ts'
import { type Conflict, awaitJobs, create, releaseMs } from './conflict.ts'
import { type Finding, isSettled, newFinding, newFindings } from './finding.ts'
import { gatesOf } from './gate.ts'
import { jobRequest } from './job-request.ts'

const row = 'jobs.create/4xx-no-effect'

/** Creations of one kind, refused one after the other before one that is to be granted. */
interface Refusals {
  readonly what: string
  readonly refusals: readonly Refusal[]
}

function byBody(of: string, what: string, change: (valid: Probe) => Probe): Refusal {
  return { row: of, what, statuses: ofBodies, change }
}

/** Each kind of refusal by itself. */
async function kindsOf(run: Run, { inputs, requiredInputs }: ApplicationResource): Promise<Refusals[]> {
  const left = (input: unknown): unknown[] => inputs.filter((other) => other !== input)
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  const bodies = [
    byBody('400-missing-inputs', 'without inputs', (valid) => withBody(valid, {})),
    byBody('400-missing-body', 'without a body', (valid) => refused({ ...valid, body: '' })),
    refusedByGrammar,
    byBody('400-malformed-inputs', 'with inputs that are no array', (valid) => withBody(valid, { inputs: 'none' })),
    ...required.map((input) =>
      byBody('400-missing-required-inputs', `without ${input.id}`, (valid) => withBody(valid, { inputs: left(input) })),
    ),
  ]
  const kinds = [
    { what: 'for their body', refusals: bodies },
    { what: 'for their content type', refusals: [refusedByType] },
    { what: 'for their key', refusals: await refusedByKey(run) },
    { what: 'for the rights of their key', refusals: await refusedByRights(run, 'jobs.create') },
  ]
  const isQuick = run.options.depth === 'quick'
  return kinds.filter(({ refusals }, at) => refusals.length > 0 && !(isQuick && at % 2 === 1))
}

/** What refused creations do to an application that is idle, once a run. */
export function noEffect(run: Run): Promise<Finding & { locked: boolean }> {
  return run.once('no effect', async () => {
    const application = declaredResource(run, 'application')
    const granted = await control(run, 'jobs.create')
    if (granted.state !== 'granted') throw notGranted(granted)
    const gate = gatesOf(run).of(application.id)
    const conflict: Conflict = { run, application, gate, other: undefined, found: newFindings(false) }
    const findings: Finding[] = []
    let locked = false
    await gate.withExclusive(async () => {
      // An application that is not free after a job, with no refusal in between, shows nothing of refusals.
      if (!(await awaitIdle(conflict))) {
        gate.gaveUp = gate.timedOut = true
        throw new NotExercised('the application is busy even if no creation was refused before')
      }
      for (const kind of await kindsOf(run, application)) {
        const finding = newFinding('')
        findings.push(finding)
        locked = await lookAfter(conflict, kind, finding)
        if (finding.failure || gate.timedOut) return
      }
    })
    const failed = findings.find(({ failure }) => failure)
    const settled = findings.filter(isSettled)
    const open = findings.find((finding) => !isSettled(finding))
    return {
      ...((failed ?? (settled.length === 0 && open)) || newFinding('')),
      confirmed: !failed && settled.length > 0,
      cases: findings.length,
      locked,
    }
  })
}

/** Sends each creation that is to be refused; true if one of them was. A granted one is waited for. */
async function refuseAll(
  { run, application, gate }: Conflict,
  { refusals }: Refusals,
  finding: Finding,
): Promise<boolean> {
  let isRefused = false
  for (const { row: of, statuses, change } of refusals) {
    const purpose = { requirement: row, about: `jobs.create/${of}`, role: 'setup', badInput: true } as const
    const exchange = await sendWithRetries(run, await change(await jobRequest(run, application)), purpose)
    if (statuses.includes(exchange.answer?.status ?? 0)) isRefused = true
    else finding.inconclusive = `a creation that should be refused was answered ${describeAnswer(exchange)}`
    // One that is granted where it should not be is told by other requirements.
    if (gate.record(exchange)) await awaitJobs(run, application.id)
  }
  return isRefused
}

/**
 * A creation at once after refused ones. Answered 409, it is a fault only if that is so in each of three looks, while a
 * creation without a refusal before it is granted in between; or if none is granted any more, for as long as a job may take.
 * True if the application stays locked.
 */
async function lookAfter(conflict: Conflict, kind: Refusals, finding: Finding): Promise<boolean> {
  const { run, application, gate } = conflict
  for (let look = 1; ; look++) {
    if (!(await refuseAll(conflict, kind, finding))) return false
    const exchange = await create(run, application, row)
    const job = gate.record(exchange)
    finding.cases++
    if (exchange.answer && isGranted(exchange.answer)) {
      finding.confirmed = true
      if (job && !(await awaitJobs(run, application.id))) gate.timedOut = true
      return false
    }
    if (exchange.answer?.status !== 409) {
      finding.inconclusive = `the creation after a refused one was answered ${describeAnswer(exchange)}`
      return false
    }
    const expected = '202: a refused creation starts no job'
    const after = `with a valid body, at once after others were refused ${kind.what}`
    const locked = !(await awaitIdle(conflict))
    if (locked)
      finding.failure = failureOf(
        exchange,
        expected,
        `${after}, and for ${run.target.limits.jobTimeoutMs} ms after that`,
      )
    else if (look === mostLooks) finding.failure = failureOf(exchange, expected, `${after}, in ${look} attempts`)
    if (locked) gate.gaveUp = gate.timedOut = true
    if (finding.failure) return locked
  }
}

function failureOf(exchange: Exchange, expected: string, what: string): NonNullable<Finding['failure']> {
  return { exchange, expected, what: `${what} (somebody else's job would look the same)` }
}

/** Waits until a creation is granted and its job has ended, at most `jobTimeoutMs`; false if none is granted. */
async function awaitIdle({ run, application, gate }: Conflict): Promise<boolean> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  while (await awaitJobs(run, application.id)) {
    if (gate.record(await create(run, application, row))) return awaitJobs(run, application.id)
    if (performance.now() > deadline) return false
    await pause(run, releaseMs)
  }
  return false
}

/** A refused creation starts no job, and leaves the application free. */
export const judgeNoEffect: Judge = async (context) => {
  if (context.run.target.scenarios[row]) return granted('as the scenario of the target file says')(context)
  const { failure, confirmed, inconclusive, cases } = await noEffect(context.run)
  context.control = 'granted'
  context.cases += cases
  if (failure) context.fail(failure.exchange, failure.expected, failure.what, failure.actual)
  if (!confirmed) throw new NotExercised(inconclusive)
}
