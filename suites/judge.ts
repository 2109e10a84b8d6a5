import {
  catalogue,
  findRequirement,
  granting,
  type RequirementId,
  conditionOf,
} from '../catalogue/catalogue.ts'
import {
  assembleReport,
  type CatalogueResult,
  howMuchUntested,
  leftOut,
  type NotServed,
  reasonIn,
  type Report,
  type RequirementResult,
  resultOf,
  type TakesState,
  targetReason,
} from '../harness/report/index.ts'
import {
  allEnded,
  type Client,
  type Given,
  type Plan,
  type RunOptions,
  runOptionsOf,
} from '../harness/client/index.ts'
import {
  describeResponse,
  type Exchange,
  headBytes,
  type HttpResponse,
  isOpen,
  isPage,
  type Open,
  pathOf,
  type Probe,
  withJson,
  open,
} from '../harness/journal/index.ts'
import {
  createRun,
  factsOf,
  type Hooks,
  isPlanned,
  type Judge,
  type RunFacts,
  type Prepared,
  type RunParts,
  send,
  startJudging,
} from '../harness/run/index.ts'
import { failKeyless } from './authentication/credentials.ts'
import {
  Jobs,
  provokeFirstRefusals,
  reach,
  readFinalStates,
  accessFor,
  createJobs,
  readRequest,
  unfinishedJobs,
} from './jobs/drive.ts'
import { isOperationId, type OperationId, operations } from '../catalogue/operations.ts'
import { ids, jobRules } from './jobs/rules.ts'
import { failUnsteady, noteSteady, watchEnvelope } from './checks/observed.ts'
import { noteCreated, settlingRemark, once } from './checks/created.ts'
import { unknownWord } from './checks/random.ts'
import {
  declaredResource,
  placeholderDraft,
  placeholderRequest,
  makeOne,
} from './checks/valid-request.ts'
import type { ApplicationValue, OtherObject, Target } from '../harness/target/index.ts'
import { planRun, operationFor, judgingOf } from './plan.ts'
import { pdfRequest, uploadSample } from './pdf-parse.suite.ts'
import { alsoMadeFor } from './created/drive.ts'

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
  'pdf.parse/200-content',
  'graphs.add-file/2xx-accepted',
  'graphs.add-file/4xx-no-effect',
  'graphs.add-file/409-already-in-graph',
]

function takesState(given: Given, id: string): TakesState | undefined {
  const scenario = given.target.scenarios[id]
  if (scenario === undefined) return states[id] ?? states[conditionOf(id)]
  return scenario.repeat === undefined ? undefined : 'requests-at-once'
}

function rerunNeeds(
  client: Client,
  given: Given,
  id: string,
  exchange: Exchange,
): readonly string[] {
  const { purpose, probe } = exchange
  const planned = (ids: readonly RequirementId[]) => ids.filter((one) => isPlanned(given, one))
  // The suite's own uploads are made for the first requirement that needs them.
  if (id === 'files.upload/2xx-accepted' && purpose.requirement === null) {
    const isPdf = probe.headers.some((header) => header.value === 'application/pdf')
    return planned([isPdf ? 'pdf.parse/200-content' : 'graphs.add-file/2xx-accepted'])
  }
  const { otherApplication: other } = given.target.resources
  if (id === 'jobs.create/409-job-in-progress')
    return planned(
      probe.params['application_id'] === other?.id ? ['jobs.create/409-per-application'] : [],
    )
  const condition = conditionOf(id)
  const { operation = '', judgedLast } = findRequirement(id) ?? {}
  if (condition === '2xx-usable' || condition === '2xx-retrievable')
    return planned(alsoMadeFor(operation))
  // Judged on every job of the run, which may depend on all earlier ones.
  const isOfJobs = id === ids.created || (operation === 'jobs.retrieve' && judgedLast)
  const maker = isOfJobs ? 'jobs.create' : afterOthers[id]
  if (maker === undefined) return []
  const history = client.journal
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

type RunPorts = Pick<RunParts, 'handler' | 'transport'>

async function askNotServed(client: Client, given: Given, notServed: NotServed[]): Promise<void> {
  const purpose = { requirement: null, role: 'probe', skipPassive: true } as const
  for (const [id, absence] of Object.entries(given.keys.hasFull ? given.target.absent : {})) {
    if (absence !== 'not-served' || !isOperationId(id)) continue
    const probe = await placeholderRequest(given, id)
    const sent = await send(client, probe, purpose)
    if (isOpen(sent)) return
    const answered = sent.response ? String(sent.response.status) : 'no answer'
    notServed.push({ operation: id, answered })
  }
}

/** Statuses that do not show what the server is: a refused key, a limit, a gateway without its service. */
const saysNothing: readonly number[] = [401, 403, 429, 502, 503, 504]

function likeness(exchange: Exchange): string {
  if (!exchange.response) return ''
  if (isPage(exchange.response)) return 'a page'
  const text = exchange.response.text(headBytes).replaceAll(pathOf(exchange.probe, {}), '')
  const plain = text.replaceAll(exchange.probe.method, '').replaceAll(/[\w:.-]*\d[\w:.-]*/g, '')
  return `${exchange.response.status} ${plain}`
}

function adviceFor(response: HttpResponse): string {
  const { status } = response
  if (status >= 500) return 'every path gets the same error: check the log of the server'
  if (isPage(response)) return 'this looks like a website, not the API: check the base URL'
  return status >= 300 && status < 400
    ? 'every path is redirected, and a redirect is not followed: serve the documented paths directly'
    : 'every path gets the same answer: check the base URL'
}

/** Before anything is judged, ends the run if every path gets the same answer, or a page: then this is not the API. */
async function endIfAlike(client: Client, given: Given): Promise<void> {
  if (!given.keys.hasFull) return
  const credential = await given.keys.full()
  const purpose = { requirement: null, role: 'probe', skipPassive: true } as const
  const asked = operations.filter(
    (one) => !given.target.absent[one.id] && !(given.options.readOnly && one.method !== 'GET'),
  )
  const unknown: Probe = {
    operation: null,
    method: 'GET',
    path: `/v1/${unknownWord(given, 'alike')}`,
    params: {},
    query: {},
    headers: [],
    credential,
    effect: 'none',
  }
  const isReading = asked.some((one) => one.method === 'GET')
  let first: Exchange | undefined
  for (const id of [...(isReading ? [null] : []), ...asked.map((one) => one.id)]) {
    const probe = id === null ? unknown : { ...placeholderDraft(given, id), credential }
    const exchange = await send(client, probe, purpose)
    if (isOpen(exchange)) return
    first ??= exchange
    const { response } = exchange
    if (!response || saysNothing.includes(response.status)) return
    // An error envelope: a server of the interface, even if it has no operation yet.
    if (response.isEnvelope && response.status >= 400 && response.status !== 500) return
    if (likeness(exchange) !== likeness(first)) return
  }
  if (!first?.response || (given.options.readOnly && first.response.status >= 400)) return
  const { method, url } = first.recorded().request
  const seen = `${method} ${url} got ${describeResponse(first)}`
  const advice = adviceFor(first.response)
  client.life.end('unreachable', targetReason(given.target.baseUrl, `${advice} (${seen})`))
}

/** The valid request about another object. */
const about = (parameter: string, id: string | Open): ((valid: Probe) => Probe) | Open =>
  isOpen(id) ? id : (valid) => ({ ...valid, params: { [parameter]: id } })

type ChangeTo = Awaited<ReturnType<Given['changeTo']>>

async function changeTo(jobs: Jobs, other: OtherObject, id: OperationId): Promise<ChangeTo> {
  const { client, given } = jobs
  if (id === 'jobs.create') {
    const isMade = other === 'created'
    const application = isMade ? await makeApplication(jobs) : declaredResource(given, other)
    if (isOpen(application)) return application
    const { id: application_id, inputs } = application
    // The effect of a refusal belongs to another requirement, and is checked first.
    if (jobs.isPlanned(ids.noEffect)) await provokeFirstRefusals(jobs)
    if (jobs.isBroken(ids.noEffect)) return open('refusals have an effect')
    return (valid) => ({ ...withJson(valid, { inputs }), params: { application_id } })
  }
  if (id === 'graphs.query' || id === 'graphs.add-file') {
    const make = () => makeOne(client, given, 'graphs.create')
    return about('graph_id', await once(client, 'other graph', make))
  }
  if (id === 'jobs.retrieve') {
    const { application, job, otherApplication } = given.target.resources
    const hasOther = otherApplication && otherApplication.id !== application?.id
    if (!hasOther && job === undefined) return open('there is no other job')
    return about('job_id', await reach(jobs, hasOther ? 'other' : 'readable'))
  }
  if (id === 'files.retrieve') return about('file_id', await makeOne(client, given, 'files.upload'))
  if (id === 'pdf.parse') return about('file_id', await uploadSample(client, given, 'other'))
  return undefined
}

async function makeApplication(jobs: Jobs): Promise<ApplicationValue | Open> {
  const { client, given } = jobs
  const declared = declaredResource(given, 'application')
  if (isOpen(declared)) return declared
  const id = await makeOne(client, given, 'applications.create')
  if (isOpen(id)) return id
  jobs.addMade(id)
  return { id, inputs: declared.inputs, requiredInputs: [] }
}

const ofJobs: readonly (string | undefined)[] = [
  'jobs.create',
  'jobs.retrieve',
  'applications.create',
]

/** Prepares a run with every suite; nothing is sent yet. */
export function prepareRun(target: Target, options: RunOptions, ports: RunPorts): Prepared {
  const plan = planRun(target, options)
  const planned = catalogue.filter((one) => plan.get(one.id)?.run)
  const hasJobs = planned.some((one) => ofJobs.includes(operationFor(one, target)))
  const hasUnserved = Object.values(target.absent).includes('not-served')
  const hasControls = planned.some((one) => one.control)
  const observers = [
    ...(planned.some((one) => one.isObserved) ? [watchEnvelope] : []),
    ...(hasControls ? [noteSteady] : []),
    ...(planned.some((one) => one.keyless) ? [failKeyless] : []),
  ]
  const run = createRun(target, options, { ...ports, plan, judgingOf })
  const { client, given } = run
  const jobs = () => new Jobs({ client, given })
  const notServed: NotServed[] = []
  given.requests = {
    'jobs.retrieve': () => readRequest(jobs()),
    'pdf.parse': () => pdfRequest(client, given),
  }
  given.changeTo = (other, id) => changeTo(jobs(), other, id)
  const hooks: Hooks = {
    before: endIfAlike,
    start: () =>
      allEnded([
        ...(hasUnserved ? [askNotServed(client, given, notServed)] : []),
        ...(hasJobs ? [createJobs(jobs())] : []),
      ]),
    finish: () =>
      allEnded([
        ...(hasControls ? [failUnsteady(client, given)] : []),
        ...(hasJobs ? [readFinalStates(jobs())] : []),
      ]),
    answered(exchange) {
      noteCreated(given, exchange)
      for (const observe of observers) observe(client, exchange, given)
    },
    accessFor: (probe, purpose) =>
      probe.operation === 'jobs.create' ? accessFor(jobs(), probe, purpose) : undefined,
    remarkOn: (exchange) => settlingRemark(given, exchange),
    takesState: (id) => takesState(given, id),
    rerunNeeds: (id, exchange) => rerunNeeds(client, given, id, exchange),
    unfinished: () => (hasJobs ? unfinishedJobs(client) : []),
    notServed,
  }
  client.hooks = hooks
  return { ...run, hooks }
}

const nowhere = 'envelope/unknown-path'

/**
 * Probes a server without judging it: one request per operation with the full key, harmless on a conforming server, and
 * requests to unknown paths. Returns the absent operations, or why there was no answer.
 */
export async function inspect(target: Target, ports: RunPorts = {}): Promise<RunFacts> {
  const looked = new Set<string>([nowhere, ...operations.map((one) => granting[one.id].id)])
  const plan: Plan = new Map(
    catalogue.map((requirement) => [
      requirement.id,
      looked.has(requirement.id)
        ? { run: true }
        : { run: false, outcome: 'not-exercised', ...leftOut('--only') },
    ]),
  )
  const options = runOptionsOf({ seed: 0, depth: 'quick' }, 'conform')
  const look: Judge = async ({ client, given, requirement: { operation } }) => {
    if (isOperationId(operation)) {
      const probe = await placeholderRequest(given, operation)
      const sent = await send(client, probe, { requirement: null, role: 'control' })
      if (isOpen(sent)) return sent
    }
    return open('it was only looked at')
  }
  const prepared = createRun(target, options, {
    ...ports,
    plan,
    judgingOf: (id) => (id === nowhere ? judgingOf(id) : { judge: look }),
  })
  await startJudging(prepared).done
  return factsOf(prepared)
}

export interface RunRecord {
  readonly target: Target
  readonly options: RunOptions
  readonly startedAt: Date
  readonly durationMs: number
  /** Results by id; those cut short are missing. */
  readonly results: ReadonlyMap<string, RequirementResult>
  readonly facts: RunFacts
  readonly problem?: string | undefined
}

export const noFacts: RunFacts = {
  requests: 0,
  throttled: 0,
  retried: 0,
  longestPauseMs: 0,
  proxy: null,
  created: [],
  cleanup: { removed: 0, left: [] },
  statuses: [],
  notServed: [],
  absent: [],
  keyRefused: false,
  ended: null,
  jobsInProgress: [],
  recordingProblem: undefined,
  hints: [],
}

const nothingPlanned: Plan = new Map()

/** The report of a run: every requirement in catalogue order. */
export function reportOf(record: RunRecord): Report<RequirementId> {
  const { target, options, startedAt, durationMs, results, facts } = record
  // An unreadable target file lacks nothing.
  const isKnown = facts.ended?.cause !== 'lost' || results.size > 0
  const isWhole = catalogue.every((one) => results.has(one.id))
  const plan = isKnown && !isWhole ? planRun(target, options) : nothingPlanned
  const cut = facts.ended ?? leftOut('interrupted')
  const requirements = catalogue.map((requirement): CatalogueResult => {
    const known = results.get(requirement.id)
    if (known) return { ...known, id: requirement.id }
    const planned = plan.get(requirement.id)
    return planned?.run === false
      ? resultOf(requirement, { outcome: planned.outcome, ...reasonIn(planned) })
      : resultOf(requirement, { outcome: 'not-exercised', ...reasonIn(cut) })
  })
  const { only, skip, readOnly } = options
  const report = assembleReport(
    {
      target: { name: target.name, baseUrl: target.baseUrl, digest: target.digest },
      run: {
        startedAt: startedAt.toISOString(),
        durationMs: Math.round(durationMs),
        seed: options.seed,
        runs: options.refusalRuns,
        nonce: options.nonce,
        command: options.rerun,
        requests: facts.requests,
        throttled: facts.throttled,
        retried: facts.retried,
        ...(facts.longestPauseMs > 0 && { longestPauseMs: facts.longestPauseMs }),
        concurrency: target.limits.concurrency,
        strict: options.strict,
        readOnly,
        tpe: options.tpe,
        only: [...only],
        skip: [...skip],
        baseline: null,
        insecure: options.insecure,
        ca: target.tls.ca !== undefined,
        proxy: facts.proxy,
        interrupted: facts.ended?.cause === 'interrupted',
        depth: options.depth,
        credentialProbes: options.depth === 'quick' ? 'few' : target.limits.credentialProbes,
        statuses: [...facts.statuses],
        ...(facts.absent.length > 0 && { absent: [...facts.absent] }),
        ...(facts.hints.length > 0 && { hints: [...facts.hints] }),
        notServed: [...facts.notServed],
        created: [...facts.created],
        cleanup: facts.cleanup,
      },
      requirements,
      notJudged: whyNotJudged(record, requirements),
    },
    { interrupted: facts.ended !== null, keyRefused: facts.keyRefusal !== undefined },
  )
  return { ...report, requirements }
}

/**
 * What ended a run early and how much was left untested, unless the results show it (an interrupt), or it was --bail.
 */
function whyNotJudged(
  { facts, options, problem }: RunRecord,
  requirements: readonly RequirementResult[],
): string | undefined {
  if (problem !== undefined)
    return `a bug in the suite ended the run: ${problem}; please report it, with seed ${options.seed} (NODE_DEBUG=conform prints the stack)`
  const { ended, keyRefusal } = facts
  const isCut = ended && ['unreachable', 'throttled', 'setup', 'key', 'lost'].includes(ended.cause)
  const cause = keyRefusal ?? (isCut ? ended.reason : undefined)
  // Where nothing could begin, the cause says so.
  const hasBegun = requirements.some((one) => one.outcome === 'passed' || one.outcome === 'failed')
  const isCounted = keyRefusal !== undefined || ended?.cause === 'throttled' || hasBegun
  return cause && cause + (isCounted ? howMuchUntested(requirements) : '')
}
