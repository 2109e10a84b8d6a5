import {
  catalogue,
  type CatalogueRequirement,
  granting,
  type AreaName,
  findRequirement,
} from '../catalogue/catalogue.ts'
import {
  type Effect,
  isOperationId,
  firstOperation,
  type OperationId,
  operationOf,
} from '../catalogue/operations.ts'
import {
  bringsBody,
  declaresMore,
  draftRequest,
  type Basis,
  nameOfControl,
} from './checks/valid-request.ts'
import type { Plan, PlanEntry, RunOptions } from '../harness/client/index.ts'
import {
  absentReason,
  isSelected,
  leftOut,
  type LeftOutBy,
  type Reason,
  unreachableReason,
  type Depth,
} from '../harness/report/index.ts'
import {
  declares,
  isDeclared,
  missingReason,
  readOnlyTarget,
  type Target,
  readsDeclared,
  type Scenario,
} from '../harness/target/index.ts'
import { isRefusal } from '../catalogue/answers.ts'
import { type Case, countAll, countEffects, materialOf, type KnownCases } from './checks/case.ts'
import { isOpen, type Probe } from '../harness/journal/index.ts'
import type { Suite } from './checks/suite.ts'
import { chatCreate } from './chat-create.suite.ts'
import { envelope } from './envelope.suite.ts'
import { filesList, filesRetrieve, filesUpload } from './files.suite.ts'
import { everyOperation, general, guardrails } from './general.suite.ts'
import { graphsAddFile, graphsCreate, graphsQuery } from './graphs.suite.ts'
import { applicationsCreate, jobsCreate, jobsRetrieve } from './jobs.suite.ts'
import { pdfParse } from './pdf-parse.suite.ts'
import { tools } from './tools.suite.ts'

type PlanOptions = Runs & Pick<RunOptions, 'only' | 'chosenBy' | 'skip'>

type Refused = Extract<PlanEntry, { readonly run: false }>
type Why = Reason | undefined

/** Plans each requirement, as far as known before anything is sent. */
export function planRun(target: Target, options: PlanOptions): Plan {
  // 0 means no limit.
  const budget = { left: target.limits.maxGenerations || Infinity, paid: new Set<string>() }
  const reading = options.readOnly ? readOnlyTarget(target) : target
  const chosenBy = options.chosenBy ?? '--only'
  const selected = catalogue.filter((one) => isSelected(one.id, options))
  // If only `envelope/` requirements are selected, and one is judged on all traffic, every probe is sent.
  const sendsForOthers =
    selected.every((one) => one.operation === 'envelope') && selected.some((one) => one.isObserved)
  const entryOf = (requirement: CatalogueRequirement): PlanEntry => {
    const { id, keyless, needs, operation } = requirement
    const refused = notApplicable(requirement, target)
    if (refused) return refused
    let left: LeftOutBy | undefined
    if (!isSelected(id, { only: options.only, skip: [] })) left = chosenBy
    else if (!isSelected(id, options)) left = '--skip'
    // Unselected requirements are left out, whatever other reason applies.
    const unselected = left && ({ run: false, outcome: 'not-exercised', ...leftOut(left) } as const)
    if (unselected && !(sendsForOthers && left === chosenBy)) return unselected
    let why: Why
    if (
      options.readOnly &&
      (makes(requirement, target) || needsSetup(requirement, target, reading))
    )
      why = leftOut('--read-only')
    else if (!target.keys.full && !keyless && operation !== 'envelope')
      why = { reason: 'no key: give the full key with --key, keys.full or CONFORM_API_KEY' }
    else if (!Object.hasOwn(target.scenarios, id))
      why = missingReason(target.file, needs, operation)
    if (target.limits.maxGenerations > 0) why ??= overBudget(requirement, target, options, budget)
    if (why === undefined) return { run: true, ...(left && { leftOut: left }) }
    return unselected ?? { run: false, outcome: 'not-exercised', ...why }
  }
  const plan = new Map(
    catalogue.map((requirement) => [requirement.id as string, entryOf(requirement)]),
  )
  if (target.limits.maxGenerations > 0) allowBadInput(plan, target, budget.left)
  return plan
}

/** Shares the remaining generations among bad input that a target may accept. */
function allowBadInput(plan: Map<string, PlanEntry>, target: Target, left: number): void {
  for (const one of catalogue) {
    const entry = plan.get(one.id)
    if (one.effect === 'none' && entry?.run && mayGenerate(one, target))
      plan.set(one.id, { ...entry, mayGenerate: left })
  }
}

/** Why a requirement does not apply to the target, if so. */
export function notApplicable(
  { id, operation, onlyIf, seenBy }: CatalogueRequirement,
  target: Target,
): Refused | undefined {
  const absence = operation === 'envelope' ? undefined : target.absent[operation]
  const note = Object.hasOwn(target.unreachable, id) ? target.unreachable[id] : undefined
  let reason: Why
  if (absence === 'not-served') reason = absentReason(absence)
  else if (onlyIf !== undefined)
    reason = absence === onlyIf ? undefined : { reason: `${operation} is not declared ${onlyIf}` }
  else if (absence === 'removed') reason = absentReason(absence)
  else if (seenBy?.every((other) => target.absent[other] !== undefined))
    reason = absentReason('not-served', seenBy)
  else if (note !== undefined) reason = unreachableReason(note)
  return reason === undefined ? undefined : { run: false, outcome: 'not-applicable', ...reason }
}

/** Whether a conforming target would create or generate, or its scenario changes a state. */
function makes({ id, operation, needs, effect }: CatalogueRequirement, target: Target): boolean {
  const reads = isOperationId(operation) ? operationOf(operation).reads : undefined
  const readsAny = needs.some(
    (need) => Array.isArray(need) && reads && need.includes(reads.declaredAt),
  )
  const isMaking = reads && readsAny ? !declares(target.file, reads.declaredAt) : effect !== 'none'
  return isMaking || target.scenarios[id]?.isExclusive === true
}

/** Whether it needs an object that only `setup` makes, in a read-only run. */
function needsSetup(requirement: CatalogueRequirement, target: Target, reading: Target): boolean {
  const scenario = target.scenarios[requirement.id]
  // A scenario changes the valid request of its operation.
  const needing = scenario && !bringsBody(scenario) ? granting[scenario.operation] : requirement
  return isDeclared(target.file, needing) && !isDeclared(reading.file, needing)
}

/** Whether any of its requests may generate: only then are its cases examined. */
function mayGenerate(requirement: CatalogueRequirement, target: Target): boolean {
  const operation = operationFor(requirement, target)
  const granted = operation && granting[operation].effect
  return requirement.effect === 'generates' || granted === 'generates'
}

/** Why its generations exceed the rest of `maxGenerations`; otherwise takes its share. */
function overBudget(
  requirement: CatalogueRequirement,
  target: Target,
  options: PlanOptions,
  budget: { left: number; readonly paid: Set<string> },
): Why {
  const { maxGenerations } = target.limits
  if (!mayGenerate(requirement, target)) return undefined
  const operation = operationFor(requirement, target)
  const { generations, controls, usual } = requestsOf(requirement, target, options)
  const isGenerating = operation !== undefined && generates(operation, target)
  const unpaid = (isGenerating ? ['', ...controls] : [])
    .map((name) => `${operation} ${name}`)
    .filter((name) => !budget.paid.has(name))
  // Bad input only generates on a lenient target, so it prevents nothing from being judged.
  const cost = (requirement.effect === 'generates' ? generations : 0) + unpaid.length
  if (cost > budget.left) {
    const enough = maxGenerations - budget.left + cost
    const reason = `maxGenerations: ${usual.requests} of ${usual.requests} cases were not sent, because limits.maxGenerations is ${maxGenerations}; ${enough} would be enough for them`
    return { reason }
  }
  budget.left -= cost
  for (const name of unpaid) budget.paid.add(name)
  return undefined
}

/** The options that decide how much a run sends. */
export type Runs = Basis['options']

/** The planned cases of a requirement, and the number of generated ones. */
export interface PlannedCases {
  readonly cases: readonly Case[]
  readonly generated: number
  /** The valid request that they are made from, if any. */
  readonly draft?: Probe
  /** Names of additional valid requests, each once per run. */
  readonly controls: readonly string[]
}

export const knownOf = (target: Target, options: Runs): Basis => ({
  target,
  options,
  objects: { takenIds: new Set(target.ids) },
})

/** What is known before anything is sent; undefined for a requirement that needs states of the target. */
export function plannedCases(
  requirement: CatalogueRequirement,
  target: Target,
  options: Runs,
): PlannedCases | undefined {
  const { id, expects } = requirement
  const known = casesOf(id)
  // A scenario replaces them by its one request.
  if (!known || target.scenarios[id]) return undefined
  // A requirement of no operation only needs the key: any operation will do.
  const operation = isOperationId(requirement.operation) ? requirement.operation : firstOperation
  const material = materialOf(knownOf(target, options), requirement, operation)
  const cases = isOpen(material) ? material : known.cases(material)
  if (isOpen(material) || isOpen(cases)) return { cases: [], generated: 0, controls: [] }
  const controls = cases.flatMap((one) =>
    one.control ? [nameOfControl(one.control(material.valid))] : [],
  )
  const isMore = options.depth === 'full' && known.generated?.(material) !== undefined
  const more = isRefusal(expects) ? options.refusalRuns : options.grantedRuns
  return {
    cases,
    draft: material.valid,
    controls: [...new Set(controls)],
    generated: isMore ? more : 0,
  }
}

interface Usual {
  readonly requests: number
  /** Those that the target grants, or may grant, and that create or generate then. */
  readonly creations: number
  readonly generations: number
}

/** Requests of a requirement to a conforming target, besides the control. */
export interface Requests {
  /** Maximum requests to its own operation. */
  readonly most: number
  /** To a target with short jobs, if no answer is wrong. */
  readonly usual: Usual
  /** Maximum requests that generate, including those to other operations. */
  readonly generations: number
  /** Maximum requests to other operations. */
  readonly also: Readonly<Partial<Record<OperationId, number>>>
  /** Names of additional valid requests, each once per run. */
  readonly controls: readonly string[]
}

/** Typical share of its bound that a requirement with states uses: a quick run stops after the first attempt. */
export const usualShare: Readonly<Record<Depth, number>> = { full: 1 / 3, quick: 1 / 10 }

/** Counts the requests of a requirement: its cases, its scenario, or its bound. */
export function requestsOf(
  requirement: CatalogueRequirement,
  target: Target,
  runs: Runs,
): Requests {
  const { atMost = { requests: 0 }, expects, effect } = requirement
  const scenario = target.scenarios[requirement.id]
  if (scenario) return byScenario(requirement, scenario, target, runs)
  const { also = {}, requests } = atMost
  const planned = plannedCases(requirement, target, runs)
  if (!planned) {
    const generated = atMost.andGenerated ? runs.grantedRuns : 0
    const most = requests + generated
    const generations = (atMost.generates ?? 0) + generated
    const share = usualShare[runs.depth]
    const usually = Math.ceil(most * share)
    const usual = {
      requests: usually,
      creations: effect === 'creates' ? usually : 0,
      generations: Math.round(generations * share),
    }
    return { most, usual, generations, also, controls: [] }
  }
  const { cases, generated, controls } = planned
  const operation = operationFor(requirement, target)
  const tries = operation && !isRefusal(expects) ? operationOf(operation).tries : 1
  const usual = cases.filter((one) => one.at === undefined || one.at === 'other path')
  const having = (one: Effect): number => (effect === one ? generated : 0)
  return {
    most: (countAll(cases) + generated) * tries + requests,
    usual: {
      requests: countAll(usual, false) + generated,
      creations: countEffects(usual, 'creates', false) + having('creates'),
      generations: countEffects(usual, 'generates', false) + having('generates'),
    },
    generations: countEffects(cases, 'generates') + having('generates'),
    also,
    controls,
  }
}

function byScenario(
  { effect, control, times = 1 }: CatalogueRequirement,
  scenario: Scenario,
  target: Target,
  runs: Runs,
): Requests {
  const { operation, before, after, repeat } = scenario
  const usual = runs.depth === 'quick' || scenario.isExclusive ? 1 : times
  const most = (repeat ?? usual) + before.length + after.length
  const known = knownOf(target, runs)
  const more = declaresMore(known, operation) && draftRequest(known, operation, 'whole')
  // Repeats are accepted until the condition occurs; after an exclusive scenario the control is sent again.
  const granted = repeat ?? (effect !== 'none' && !control ? 1 : 0)
  const isGenerating = generates(operation, target)
  return {
    most,
    usual: {
      requests: most,
      creations: granting[operation].effect === 'creates' ? granted : 0,
      generations: isGenerating ? granted : 0,
    },
    generations: isGenerating ? granted + (scenario.isExclusive ? 1 : 0) : 0,
    also: {},
    controls: more && !isOpen(more) ? [nameOfControl(more)] : [],
  }
}

/** Whether a valid request of the operation generates. */
export const generates = (operation: OperationId, target: Target): boolean =>
  granting[operation].effect === 'generates' && !readsDeclared(operation, target.file)

/** The operation of a requirement's requests: its own, or its scenario's. */
export function operationFor(
  requirement: CatalogueRequirement,
  target: Target,
): OperationId | undefined {
  const own = target.scenarios[requirement.id]?.operation ?? requirement.operation
  return isOperationId(own) ? own : undefined
}

/**
 * The suite of each area. All are loaded at once (about 15 ms), because the files of this package may be replaced
 * during or between runs.
 */
const suites: Readonly<Record<AreaName, Suite>> = {
  '*': everyOperation,
  guardrails,
  general,
  envelope,
  'pdf.parse': pdfParse,
  'chat.create': chatCreate,
  'jobs.create': jobsCreate,
  'jobs.retrieve': jobsRetrieve,
  'applications.create': applicationsCreate,
  'files.upload': filesUpload,
  'files.list': filesList,
  'files.retrieve': filesRetrieve,
  'graphs.create': graphsCreate,
  'graphs.add-file': graphsAddFile,
  'graphs.query': graphsQuery,
  ...tools,
}

export const casesOf = (id: string): KnownCases | undefined => judgingOf(id)?.cases

/** How a requirement is judged; undefined for an unknown id. */
export function judgingOf(id: string): ReturnType<Suite> {
  const requirement = findRequirement(id)
  return requirement && (suites[requirement.operation](id) ?? suites['*'](id))
}
