import { catalogue, grantedRequirement, type RequirementId } from '../catalogue/catalogue.ts'
import { conditionOf } from '../catalogue/requirement.ts'
import { leftOut, type TakesState } from '../harness/report/index.ts'
import type { Given, Plan, RunOptions } from '../harness/client/index.ts'
import { NotExercised, type Probe, type Exchange, withJson } from '../harness/journal/index.ts'
import {
  createRun,
  isPlanned,
  type Judging,
  type Run,
  type RunFacts,
  type Hooks,
  noHooks,
  runOptionsOf,
  type RunParts,
  ask,
  askHolding,
  startJudging,
} from '../harness/run/index.ts'
import { failKeyless, noteKeyless } from './authentication/credentials.ts'
import { Jobs } from './jobs/client.ts'
import { provokeFirstRefusals } from './jobs/drive.ts'
import { reach, readFinalStates } from './jobs/judge.ts'
import { isOperationId, type OperationId, operations } from '../catalogue/operations.ts'
import { ids, jobRules } from './jobs/rules.ts'
import { storyOf } from './jobs/story.ts'
import {
  endIfAlike,
  failUnsteady,
  noteCreated,
  noteLag,
  noteSteady,
  settlingRemark,
  declaredResource,
  watchEnvelope,
  once,
  placeholderRequest,
  sharedBy,
  makeOne,
} from './checks/index.ts'
import type { ApplicationResource, Target } from '../harness/target/index.ts'
import { planRun } from './plan.ts'
import { operationOf } from './planned-cases.ts'
import { pdfRequest, uploadSample } from './pdf-parse/refusals.ts'
import { createJobs, jobRead, unfinishedJobs, whenIdle } from './jobs.suite.ts'
import { judgeOf } from './suites.ts'

/** States that failures depend on and one request cannot create, by id or condition. */
const states: Readonly<Record<string, TakesState>> = {
  ...Object.fromEntries(Object.entries(jobRules).map(([id, { takes }]) => [id, takes])),
  'jobs.create/202-required-inputs-only': 'idle-application',
  'jobs.create/202-any-text': 'idle-application',
  '4xx-no-effect': 'refusal-before',
  '400-atomic': 'requests-at-once',
  '2xx-own-id': 'requests-at-once',
  '400-duplicate-name': 'object-of-run',
  '409-already-in-graph': 'object-of-run',
  '2xx-usable': 'object-of-run',
  '2xx-attached-to-graph': 'object-of-run',
  '2xx-retrievable': 'object-of-run',
  'jobs.retrieve/200-failed': 'job-of-run',
}

const inStories = /^jobs\.(?:create\/(?:409|4xx-no-effect|202)|retrieve\/200)/

/** Requirements judged on every job of the run, which may depend on all earlier ones. */
const onEveryJob = /^jobs\.(?:retrieve\/200-|create\/202-created$)/

/** Requirements whose objects are used again at the end, with those that create more, some simultaneously. */
const alsoMadeFor: Readonly<Record<string, readonly RequirementId[]>> = {
  'files.upload/2xx-retrievable': ['files.upload/2xx-own-id', 'files.upload/2xx-attached-to-graph'],
  'graphs.create/2xx-usable': ['graphs.create/2xx-own-id', 'graphs.create/400-duplicate-name'],
  'applications.create/2xx-usable': [
    'applications.create/2xx-own-id',
    'applications.create/400-duplicate-name',
  ],
}

/** Requirements that may depend on how many objects exist, and the operation that creates such objects. */
const afterOthers: Readonly<Record<string, OperationId>> = {
  'jobs.create/409-released': 'jobs.create',
  'files.list/2xx-accepted': 'files.upload',
  'graphs.create/400-duplicate-name': 'graphs.create',
  'applications.create/400-duplicate-name': 'applications.create',
  'graphs.add-file/2xx-accepted': 'graphs.add-file',
  'graphs.add-file/409-already-in-graph': 'graphs.add-file',
}
const uploading: readonly RequirementId[] = [
  ...(['pdf.parse/200-content', 'graphs.add-file/2xx-accepted'] as const),
  ...(['graphs.add-file/4xx-no-effect', 'graphs.add-file/409-already-in-graph'] as const),
]

function conflictOn(
  { target: { resources } }: Pick<Run, 'target'>,
  application: string | undefined,
): RequirementId[] {
  if (application === resources.otherApplication?.id) return ['jobs.create/409-per-application']
  return application === resources.failingApplication?.id ? ['jobs.create/409-released'] : []
}

function takesState(run: Pick<Run, 'target'>, id: string): TakesState | undefined {
  const scenario = run.target.scenarios[id]
  if (scenario === undefined) return states[id] ?? states[conditionOf(id)]
  return scenario.repeat === undefined ? undefined : 'requests-at-once'
}

function rerunNeeds(
  run: Pick<Run, 'journal' | 'plan' | 'target'>,
  id: string,
  exchange: Exchange,
): readonly string[] {
  const { purpose, probe } = exchange
  const planned = (ids: readonly RequirementId[]) => ids.filter((one) => isPlanned(run, one))
  // The suite's own uploads are made for the first requirement that needs them.
  if (id === 'files.upload/2xx-accepted' && purpose.requirement === null) {
    const isPdf = probe.headers.some((header) => header.value === 'application/pdf')
    return planned([isPdf ? 'pdf.parse/200-content' : 'graphs.add-file/2xx-accepted'])
  }
  if (id === 'jobs.create/409-job-in-progress')
    return planned(conflictOn(run, probe.params['application_id']))
  const makers = alsoMadeFor[id]
  if (makers) return planned(makers)
  const maker = onEveryJob.test(id) ? 'jobs.create' : afterOthers[id]
  if (maker === undefined) return []
  const history = run.journal
  const [object] = Object.values(probe.params)
  const isSame = maker === 'graphs.add-file' || id === 'jobs.create/409-released'
  const made = history.events.filter(
    (event) =>
      event.operation === maker &&
      event.kind === 'creation' &&
      event.isGranted &&
      (!isSame || event.within === object),
  )
  const before = [...made, ...history.of(probe.params['job_id'] ?? '')]
    .filter((event) => event.exchange !== exchange && event.sentAt <= exchange.endedAt)
    .map((one) => one.exchange.purpose.requirement as RequirementId | null)
  const own = maker === 'files.upload' && before.includes(null) ? uploading : []
  return planned([...new Set([...before.filter((one) => one !== null), ...own])])
}

type RunPorts = Omit<RunParts, 'hooksOf' | 'plan'>

async function askNotServed(run: Run): Promise<void> {
  const purpose = { requirement: null, role: 'probe', skipPassive: true } as const
  for (const [id, absence] of Object.entries(run.keys.hasFull ? run.target.absent : {})) {
    if (absence !== 'not-served' || !isOperationId(id)) continue
    const { response } = await askHolding(run, await placeholderRequest(run, id), purpose)
    const answered = response ? String(response.status) : 'no answer'
    sharedBy(run).notServed.push({ operation: id, answered })
  }
}

const othersOf = (run: Run): Given['others'] => ({
  'jobs.create': async (other) => {
    const jobs = new Jobs(run)
    const isMade = other === 'created'
    const { id, inputs } = isMade ? await makeApplication(run) : declaredResource(run, other)
    // The effect of a refusal belongs to another requirement, and is checked first.
    if (jobs.isPlanned(ids.noEffect)) await provokeFirstRefusals(jobs).catch(() => undefined)
    if (jobs.isBroken(ids.noEffect)) throw new NotExercised('refusals have an effect')
    return (valid) => ({ ...withJson(valid, { inputs }), params: { application_id: id } })
  },
  'graphs.query': () => ofCreatedGraph(run),
  'graphs.add-file': () => ofCreatedGraph(run),
  'jobs.retrieve': async () => {
    const { application, job, otherApplication } = run.target.resources
    const hasOther = otherApplication && otherApplication.id !== application?.id
    if (!hasOther && job === undefined) throw new NotExercised('there is no other job')
    const params = { job_id: await reach(run, hasOther ? 'other' : 'readable') }
    return (valid) => ({ ...valid, params })
  },
  'files.retrieve': async () => {
    const params = { file_id: await makeOne(run, 'files.upload') }
    return (valid) => ({ ...valid, params })
  },
  'pdf.parse': async () => {
    const params = { file_id: await uploadSample(run, 'other') }
    return (valid) => ({ ...valid, params })
  },
})

async function makeApplication(run: Run): Promise<ApplicationResource> {
  const { inputs } = declaredResource(run, 'application')
  const application = { id: await makeOne(run, 'applications.create'), inputs, requiredInputs: [] }
  new Jobs(run).addMade(application)
  return application
}

async function ofCreatedGraph(run: Run): Promise<(valid: Probe) => Probe> {
  const params = await once(run, 'other graph', async () => ({
    graph_id: await makeOne(run, 'graphs.create'),
  }))
  return (valid) => ({ ...valid, params })
}

const hooksOf = (run: Run, hasJobs: boolean): Hooks => ({
  before: [() => endIfAlike(run)],
  start: [() => askNotServed(run), ...(hasJobs ? [() => createJobs(run)] : [])],
  finish: [
    () => failUnsteady(run),
    () => failKeyless(run),
    ...(hasJobs ? [() => readFinalStates(run)] : []),
  ],
  answered(exchange) {
    for (const see of [watchEnvelope, noteCreated, noteLag, noteSteady, noteKeyless])
      see(run, exchange)
  },
  intercept: (probe, purpose, send) => whenIdle(run, probe, purpose, send),
  remarkOn: (exchange) => settlingRemark(run, exchange),
  takesState: (id) => takesState(run, id),
  storyOf: (id, exchange) => (inStories.test(id) ? storyOf(run.journal, exchange) : undefined),
  rerunNeeds: (id, exchange) => rerunNeeds(run, id, exchange),
  unfinished: () => unfinishedJobs(run),
  notServed: () => sharedBy(run).notServed,
})

const ofJobs: readonly (string | undefined)[] = [
  'jobs.create',
  'jobs.retrieve',
  'applications.create',
]

/** Prepares a run with every suite; nothing is sent yet. */
export function prepareRun(target: Target, options: RunOptions, ports: RunPorts): Run {
  const plan = planRun(target, options)
  const hasJobs = catalogue.some(
    (one) => plan.get(one.id)?.run === true && ofJobs.includes(operationOf(one, target)),
  )
  const run = createRun(target, options, {
    ...ports,
    plan,
    hooksOf: (run) => hooksOf(run, hasJobs),
  })
  run.given.requests = { 'jobs.retrieve': () => jobRead(run), 'pdf.parse': () => pdfRequest(run) }
  run.given.others = othersOf(run)
  return run
}

export function beginJudging(run: Run): Judging {
  return startJudging(run, judgeOf)
}

const nowhere = 'envelope/unknown-path'

/**
 * Probes a server without judging it: one request per operation with the full key, harmless on a conforming server, and
 * requests to unknown paths. Returns the absent operations, or why there was no answer.
 */
export async function lookAt(
  target: Target,
  ports: Pick<RunParts, 'handler'> = {},
): Promise<RunFacts> {
  const looked = new Set<string>([nowhere, ...operations.map((one) => grantedRequirement[one.id])])
  const plan: Plan = new Map(
    catalogue.map((requirement) => [
      requirement.id,
      looked.has(requirement.id)
        ? { run: true }
        : { run: false, outcome: 'not-exercised', ...leftOut('--only') },
    ]),
  )
  const options = runOptionsOf({ seed: 0, depth: 'quick' }, 'conform')
  const run: Run = createRun(target, options, { ...ports, plan, hooksOf: () => noHooks })
  const { done, facts } = startJudging(run, (id) =>
    id === nowhere
      ? judgeOf(id)
      : async ({ requirement: { operation } }) => {
          if (isOperationId(operation)) {
            const probe = await placeholderRequest(run, operation)
            await ask(run, probe, { requirement: null, role: 'control' })
          }
          throw new NotExercised('it was only looked at')
        },
  )
  await done
  return facts()
}
