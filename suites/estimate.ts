import { type Need, type Count } from '../catalogue/requirement.ts'
import { isRefusal } from '../catalogue/expected.ts'
import {
  type CatalogueRequirement,
  requirementOf,
  grantedRequirement,
} from '../catalogue/catalogue.ts'
import type { Effect } from '../catalogue/operation.ts'
import {
  firstOperation,
  isOperationId,
  operation,
  type OperationId,
  operations,
  readsOf,
  triesOf,
  uploadOperation,
} from '../catalogue/operations.ts'
import {
  countAll,
  countGenerating,
  declaresMore,
  draftRequest,
  type Known,
  nameOfControl,
} from '../harness/checks/index.ts'
import { plannedCases } from './planned-cases.ts'
import { getAt } from '../schemas/json.ts'
import type { Depth } from '../harness/report/index.ts'
import { isExclusive, readsDeclared, type Target } from '../harness/target-file/index.ts'
import type { Plan } from '../harness/engine/index.ts'

/** Most that a run sends for one operation, as if each control were granted, and what it usually sends. */
export interface Estimate {
  readonly operation: string
  /** Requests that were sent when a conforming server was judged. */
  readonly typical: number
  readonly requests: number
  readonly creations: number
  readonly generations: number
}

/** Polls of an object while the pause between them grows to its longest. */
const growingPolls = 40

/** Most requests of a requirement's own: its cases, if they are known, or what its record says. */
export function ownRequests(requirement: CatalogueRequirement, target: Target, runs: Runs): number {
  const planned = plannedCases(requirement, target, runs)
  if (planned) return countAll(planned.cases) + planned.generated
  const { maxRequests } = requirement
  const most = typeof maxRequests === 'function' ? maxRequests(target) : maxRequests
  const every = countIn(most, runs)
  // A quick run sends one case that has a name, but of a story all.
  const isSampled =
    runs.depth === 'quick' && isRefusal(requirement.expects) && requirement.effect === 'none'
  const once = isSampled && typeof most !== 'object' ? Math.min(1, every) : every
  const varies = !isRefusal(requirement.expects) && isOperationId(requirement.operation)
  return varies ? once * triesOf(requirement.operation) : once
}

/** Requests that the run would send, per operation, in catalogue order. Throttled requests, which are sent again, are not counted. */
export function estimate(plan: Plan, target: Target, runs: Runs): Estimate[] {
  const totals = createTotals(target)
  const controlled = new Set<string>()
  const uploaded = new Set<string>()
  // The first request checks that the target answers; it is sent again while nothing comes back.
  totals.add(firstOperation, 2, 'none')
  for (const [id, entry] of plan)
    if (entry.run) addRow(requirementOf(id as CatalogueRequirement['id']))
  totals.add(uploadOperation, uploaded.size, 'creates')
  for (const [id, absence] of Object.entries(target.absent)) {
    if (absence === 'not-served' && isOperationId(id)) totals.of(id).requests += 1
  }
  for (const { id } of operations) addPolls(id)
  return totals
    .all()
    .filter(({ requests }) => requests > 0)
    .map((total) => ({
      ...total,
      typical: Math.ceil(
        total.known +
          (total.requests - total.most) * (shares[total.operation] ?? usual)[runs.depth],
      ),
    }))

  function addRow(requirement: CatalogueRequirement): void {
    const scenario = target.scenarios[requirement.id]
    const of = scenario?.operation ?? requirement.operation
    if (isOperationId(of)) addControl(of)
    addUploads(scenario ? [] : requirement.needs)
    const own = scenario
      ? (scenario.repeat ?? 1) + scenario.before.length + scenario.after.length
      : ownRequests(requirement, target, runs)
    const planned = scenario ? undefined : plannedCases(requirement, target, runs)
    if (planned) totals.know(of, planned.cases.length + planned.generated, own)
    const { generations, controls } = grants(requirement, target, runs)
    if (isOperationId(of)) addControls(of, planned?.controls ?? controls)
    const creates = requirement.effect === 'creates'
    if (generations > 0 && !creates) totals.add(of, own, 'generates', generations)
    else totals.add(of, own, requirement.effect, creates ? own : 0)
    for (const [other, more] of Object.entries(requirement.alsoSends ?? {})) {
      totals.of(other).requests += more
      // Requests that generate use the created objects.
      if (
        creates &&
        isOperationId(other) &&
        requirementOf(grantedRequirement[other]).effect === 'generates'
      )
        totals.of(other).generations += generations
    }
    // After what it changed, the run asks until the valid request is granted again.
    if (scenario && isExclusive(scenario) && isOperationId(of))
      totals.add(of, 1, requirementOf(grantedRequirement[of]).effect)
  }

  function addControl(of: OperationId): void {
    if (controlled.has(of)) return
    controlled.add(of)
    const { effect, needs } = requirementOf(grantedRequirement[of])
    const reads = readsOf(of)
    if (reads && !readsDeclared(of, target.file)) addControl(reads.madeBy)
    if (runs.readOnly && effect !== 'none' && !reads) return
    addUploads(needs)
    totals.add(of, triesOf(of), reads ? 'none' : effect, 1)
  }

  /** Valid requests with what a case adds beside its fault, each once a run. */
  function addControls(of: OperationId, names: readonly string[]): void {
    const more = names.filter((name) => !controlled.has(`${of} ${name}`))
    for (const name of more) controlled.add(`${of} ${name}`)
    totals.know(of, more.length, more.length * triesOf(of))
    totals.add(
      of,
      more.length * triesOf(of),
      requirementOf(grantedRequirement[of]).effect,
      more.length,
    )
  }

  /** Files that are needed, and that the target declares by a path or not at all: each is uploaded once. */
  function addUploads(needs: readonly Need[]): void {
    for (const alternatives of needs.map((need) => [need].flat())) {
      const [pointer = ''] = alternatives
      const declared = getAt(target.file, pointer)
      const byPath =
        typeof declared === 'object' && declared !== null && Object.hasOwn(declared, 'upload')
      if (
        byPath ||
        (declared === undefined && alternatives.includes(`/operations/${uploadOperation}`))
      )
        uploaded.add(pointer)
    }
  }

  /** Counts polls: what the operation reads is made by another one, and polled until it ends. */
  function addPolls(id: OperationId): void {
    const reads = readsOf(id)
    if (!reads) return
    const [reading, making] = [totals.of(id), totals.of(reads.madeBy)]
    making.generations += reading.generations
    making.requests += reading.generations
    reading.generations = 0
    // Until each has ended, if they are that far apart at last.
    reading.requests +=
      making.generations * (growingPolls + Math.ceil(target.limits.jobTimeoutMs / reads.everyMs))
  }
}

type Total = { -readonly [name in keyof Omit<Estimate, 'typical'>]: Estimate[name] } & {
  /** Cases that are known, if each answers for its parts, and the most requests that they come to. */
  known: number
  most: number
}

function createTotals(target: Target) {
  const totals = new Map<string, Total>()
  const of = (name: string): Total => {
    const known = totals.get(name) ?? {
      operation: name,
      requests: 0,
      creations: 0,
      generations: 0,
      known: 0,
      most: 0,
    }
    totals.set(name, known)
    return known
  }
  return {
    of,
    all: (): Total[] => [...totals.values()],
    know(name: string, cases: number, most: number): void {
      of(name).known += cases
      of(name).most += most
    },
    /** @param granted how many of them a conforming target would grant, by that effect */
    add(name: string, requests: number, effect: Effect, granted = requests): void {
      const total = of(name)
      total.requests += requests
      if (effect === 'creates') total.creations += granted
      if (effect === 'generates') total.generations += granted
      if (!isOperationId(name) || !uploadsFirst(name, target)) return
      // A refused request adds no file: one serves all cases of a requirement.
      const files = effect === 'none' ? Math.min(1, requests) : requests
      of(uploadOperation).requests += files
      of(uploadOperation).creations += files
    },
  }
}

/** True if each request of the operation names a file that is uploaded first. */
function uploadsFirst(id: OperationId, target: Target): boolean {
  const role = operation(id).freshFileAt
  const canUpload = target.operations[uploadOperation]?.content !== undefined
  return role !== undefined && canUpload && target.operations[id]?.fields[role] !== undefined
}

/**
 * Part of the most that a run may send, beside cases that are known, which it sent when a conforming server was judged whole:
 * polls end when a job does, a key is sent to few of the places where it may be, and nothing is sent again. Measured with the
 * reference, whose jobs last a second or less; tests/matrix holds it to what is sent.
 */
const usual: Readonly<Record<Depth, number>> = { full: 0.45, quick: 0.4 }
const shares: Readonly<Record<string, Readonly<Record<Depth, number>>>> = {
  'jobs.create': { full: 0.19, quick: 0.07 },
  'jobs.retrieve': { full: 0.03, quick: 0.01 },
  envelope: { full: 0.9, quick: 0.7 },
}

/** Counts what a requirement makes a conforming target generate: by its own requests, and by its operation's control (shared by all of them). */
interface Grants {
  readonly generations: number
  readonly control: number
  /** Further controls, by name, each of which generates as well; none of an operation that generates nothing. */
  readonly controls: readonly string[]
}

/** Cases that a run sends for a refusal, and for a granted request. */
type Runs = Known['options']

function countIn(count: Count, { refusalRuns, grantedRuns, depth }: Runs): number {
  if (typeof count === 'number') return count
  return (
    (depth === 'quick' ? Math.min(1, count.named) : count.named) +
    (count.generated === 'refusals' ? refusalRuns : grantedRuns)
  )
}

/** The operation whose valid request a requirement's probes are made from: that of its scenario, if it is no operation's own. */
export function operationOf(
  requirement: CatalogueRequirement,
  target: Target,
): OperationId | undefined {
  const operation = target.scenarios[requirement.id]?.operation ?? requirement.operation
  return isOperationId(operation) ? operation : undefined
}

function generatedBy(
  generates: NonNullable<CatalogueRequirement['generates']>,
  target: Target,
  runs: Runs,
): number {
  if (typeof generates !== 'function') return countIn(generates, runs)
  return runs.depth === 'quick' ? Math.min(1, generates(target)) : generates(target)
}

/** The control of scenarios of an operation, by name, if it is not the valid request. */
function wholeControl(target: Target, operation: OperationId, options: Runs): string[] {
  if (!declaresMore({ target }, operation)) return []
  const objects = { takenIds: new Set(target.ids) }
  return [nameOfControl(draftRequest({ target, options, objects }, operation, 'whole'))]
}

/** How many generations a requirement costs a conforming target. */
export function grants(requirement: CatalogueRequirement, target: Target, runs: Runs): Grants {
  const operation = operationOf(requirement, target)
  if (operation === undefined) return { generations: 0, control: 0, controls: [] }
  const { effect } = requirementOf(grantedRequirement[operation])
  const control = effect === 'generates' && !readsDeclared(operation, target.file) ? 1 : 0
  const usual = requirement.effect === 'generates' && !requirement.control ? 1 : 0
  const scenario = target.scenarios[requirement.id]
  const planned = plannedCases(requirement, target, runs)
  if (planned)
    return {
      generations: countGenerating(planned.cases),
      control,
      controls: control > 0 ? planned.controls : [],
    }
  if (!scenario) {
    const generations = generatedBy(requirement.generates ?? usual, target, runs)
    return { generations, control, controls: [] }
  }
  // Repeats are granted until the condition shows; after an exclusive one the control is asked again.
  return {
    generations: control * ((scenario.repeat ?? usual) + (isExclusive(scenario) ? 1 : 0)),
    control,
    controls: control > 0 ? wholeControl(target, operation, runs) : [],
  }
}
