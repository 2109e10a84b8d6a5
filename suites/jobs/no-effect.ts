import { isGranted } from '../../harness/engine/answer.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { pause } from '../../harness/engine/lifetime.ts'
import { type Credential, type Probe, withHeader } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { sendWithRetries } from '../../harness/engine/send-with-retries.ts'
import type { Judge } from '../../harness/engine/check-context.ts'
import { refused, withBody } from '../../harness/checks/conditions.ts'
import { control, notGranted } from '../../harness/checks/control.ts'
import { granted } from '../../harness/checks/granted.ts'
import { declaredResource } from '../../harness/checks/valid-request.ts'
import { jobRequest } from './job-request.ts'
import type { ApplicationResource } from '../../harness/target/model.ts'
import { noCredential, withCredential } from '../authentication/credentials.ts'
import { invalidForms, malformedForms } from '../authentication/key-forms.ts'
import { type Conflict, awaitJobs, create, releaseMs } from './conflict.ts'
import { type Finding, isSettled, newFinding, newFindings } from './finding.ts'
import { gatesOf, mostAttempts } from './gate.ts'

const row = 'jobs.create/4xx-no-effect'

interface Refusal {
  /** The row of the operation that the fault belongs to. */
  readonly row: string
  readonly statuses: readonly number[]
  change(valid: Probe): Probe
}

/** Creations that are refused one after the other, or all at once, before one that is to be granted. */
interface Refusals {
  readonly what: string
  readonly refusals: readonly Refusal[]
}

/** The two that every target refuses, each by itself. */
const alone: readonly Refusals[] = [
  {
    what: 'one without inputs was refused',
    refusals: [{ row: '400-missing-inputs', statuses: [400], change: (valid) => withBody(valid, {}) }],
  },
  {
    what: 'one without a key was refused',
    refusals: [
      {
        row: '401-missing-credentials',
        statuses: [401],
        change: (valid) => withCredential(valid, noCredential),
      },
    ],
  },
]

/** A key that nobody issued, made from the full one. */
async function invalidKeys({ keys }: Run): Promise<Credential[]> {
  const full = await keys.fullKey()
  if (full === undefined) return []
  const forms = invalidForms({ full, expired: await keys.expiredKey(), all: await keys.declared() }).slice(0, 1)
  for (const { credential } of forms) keys.learn(credential)
  return forms.map(({ credential }) => credential)
}

/** The others all at once: each by itself would take a job of its own. */
async function together(run: Run, { inputs, requiredInputs }: ApplicationResource): Promise<Refusals> {
  const keys = malformedForms(undefined).map(({ credential }) => ['401-malformed-key', credential] as const)
  const invalid = (await invalidKeys(run)).map((credential) => ['401-invalid-key', credential] as const)
  const expired = run.target.keys.expired === undefined ? [] : [['401-expired-key', await run.keys.expired()] as const]
  const left = (input: unknown): unknown[] => inputs.filter((other) => other !== input)
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  const bodies: readonly (readonly [row: string, change: (valid: Probe) => Probe])[] = [
    ['400-missing-body', (valid) => refused({ ...valid, body: '' })],
    ['400-malformed-json', (valid) => refused({ ...valid, body: `${String(valid.body)}}` })],
    ['400-wrong-content-type', (valid) => refused(withHeader(valid, 'content-type', 'text/plain'))],
    ['400-malformed-inputs', (valid) => withBody(valid, { inputs: 'none' })],
    ...required.map(
      (input) => ['400-missing-required-inputs', (valid: Probe) => withBody(valid, { inputs: left(input) })] as const,
    ),
  ]
  return {
    what: 'others were refused, for their body or their key',
    refusals: [
      ...bodies.map(([of, change]) => ({ row: of, statuses: [400, 415, 422], change })),
      ...[...keys, ...invalid, ...expired].map(([of, key]) => ({
        row: of,
        statuses: [401],
        change: (valid: Probe) => withCredential(valid, key),
      })),
    ],
  }
}

/** What refused creations do to an application that is idle, once a run. */
export function noEffect(run: Run): Promise<Finding> {
  return run.once('no effect', async () => {
    const application = declaredResource(run, 'application')
    const granted = await control(run, 'jobs.create')
    if (granted.state !== 'granted') throw notGranted(granted)
    const gate = gatesOf(run).of(application.id)
    const conflict: Conflict = { run, application, gate, other: undefined, found: newFindings(false) }
    const findings: Finding[] = []
    await gate.withExclusive(async () => {
      for (const refusals of alone) {
        const finding = newFinding('')
        findings.push(finding)
        await attemptAfter(conflict, refusals, finding)
        if (finding.failure || gate.timedOut) return
      }
      if (run.options.depth === 'quick') return
      const finding = newFinding('')
      await attemptAfter(conflict, await together(run, application), finding)
      // One of them may be granted where it should not be, which other requirements tell.
      if (isSettled(finding)) findings.push(finding)
    })
    const failed = findings.find(({ failure }) => failure)
    const open = findings.find((finding) => !isSettled(finding))
    return { ...(failed ?? open ?? newFinding('')), confirmed: !failed && !open, cases: findings.length }
  })
}

/**
 * A creation at once after a refused one. Answered 409, it is a fault only if that is so in each of three attempts, while
 * a creation without a refusal before it is granted in between.
 */
async function attemptAfter(conflict: Conflict, { what: after, refusals }: Refusals, finding: Finding): Promise<void> {
  const { run, application, gate } = conflict
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    if (!(await awaitIdle(conflict, attempt > 1))) {
      finding.inconclusive = 'the application is busy even if no creation was refused before'
      return
    }
    const valid = await jobRequest(run, application)
    const answered = await Promise.all(
      refusals.map(async ({ row: of, statuses, change }) => {
        const purpose = { requirement: row, about: `jobs.create/${of}`, role: 'setup', badInput: true } as const
        const refusal = await sendWithRetries(run, change(valid), purpose)
        return { refusal, isRefused: statuses.includes(refusal.answer?.status ?? 0) }
      }),
    )
    const other = answered.find(({ isRefused }) => !isRefused)
    if (other) {
      finding.inconclusive = `the creation that should be refused was answered ${describeAnswer(other.refusal)}`
      return
    }
    const exchange = await create(run, application, row)
    gate.record(exchange)
    finding.cases++
    if (exchange.answer && isGranted(exchange.answer)) {
      finding.confirmed = true
      return
    }
    if (exchange.answer?.status !== 409) {
      finding.inconclusive = `the creation after a refused one was answered ${describeAnswer(exchange)}`
      return
    }
    const what = `with a valid body, at once after ${after}, in ${attempt} attempts (somebody else's job would look the same)`
    if (attempt === mostAttempts)
      finding.failure = { exchange, expected: '202: a refused creation starts no job', what }
  }
}

/** Waits until the application has no job; `proven`: until a creation is granted, has ended, and so is one at once after it. */
async function awaitIdle({ run, application, gate }: Conflict, proven: boolean): Promise<boolean> {
  if (!(await awaitJobs(run, application.id))) return false
  if (!proven) return true
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (let granted = 0; granted < 2;) {
    const job = gate.record(await create(run, application, row))
    if (job) granted++
    else if (granted > 0 || performance.now() > deadline) return false
    else await pause(run, releaseMs)
    if (!(await awaitJobs(run, application.id))) return false
  }
  return true
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
