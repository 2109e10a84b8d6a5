import { type CatalogueRequirement, requirementById, granting } from '../catalogue/catalogue.ts'
import {
  type Effect,
  firstOperation,
  isOperationId,
  operationOf,
  type OperationId,
  operations,
  uploadOperation,
} from '../catalogue/operations.ts'
import type { Need } from '../catalogue/requirement.ts'
import type { Plan } from '../harness/client/index.ts'
import { isDeclared, readsDeclared, type Target } from '../harness/target/index.ts'
import { getAt } from '../schemas/json.ts'
import { requestsOf, type Runs, usualShare } from './plan.ts'

/** Requests of a run for one operation, to a conforming target with short jobs, if each control is accepted. */
export interface Estimate {
  readonly operation: string
  readonly requests: number
  /** As many at most, if answers are wrong. */
  readonly most: number
  /** Of the requests, those that the target accepts, or may accept. */
  readonly creations: number
  readonly generations: number
}

/** Polls until a short job ends. */
const polls = { usual: 5, most: 8 }

const effectOf = (id: string): Effect => (isOperationId(id) ? granting[id].effect : 'none')

/** Requests per operation, in catalogue order, without retries of throttled ones. */
export function estimate(plan: Plan, target: Target, runs: Runs): Estimate[] {
  const share = usualShare[runs.depth]
  const totals = createTotals(target, runs.readOnly)
  const controlled = new Set<string>()
  const uploaded = new Set<string>()
  // The first request checks that the target answers, and is repeated until it does.
  totals.add(firstOperation, { requests: 1, most: 2 })
  // What an unknown path gets is compared with each operation, until one differs.
  totals.add('envelope', { requests: 1, most: 1 + operations.length })
  for (const [id, entry] of plan)
    if (entry.run) addRequirement(requirementById[id as CatalogueRequirement['id']])
  totals.add(uploadOperation, { requests: uploaded.size, creations: uploaded.size })
  for (const [id, absence] of Object.entries(target.absent))
    if (absence === 'not-served' && isOperationId(id)) totals.add(id, { requests: 1 })
  for (const { id } of operations) addPolls(id)
  return totals.all().filter((one) => one.most > 0)

  function addRequirement(requirement: CatalogueRequirement): void {
    const { id, needs, effect } = requirement
    const scenario = target.scenarios[id]
    const of = scenario?.operation ?? requirement.operation
    const { most, usual, generations, also, controls } = requestsOf(requirement, target, runs)
    if (isOperationId(of)) addControls(of, controls)
    addUploads(scenario ? [] : needs)
    const { requests, creations } = usual
    // A refused request adds no file: one serves all cases of a requirement.
    totals.add(of, { requests, most, creations }, effect === 'none' ? 1 : Infinity)
    for (const [other, bound] of Object.entries(also)) {
      const usually = bound * share
      const isCreating = effect === 'creates' && effectOf(other) === 'creates'
      totals.add(other, { requests: usually, most: bound, creations: isCreating ? usually : 0 })
    }
    // Requests that generate use the created objects.
    const user = [of, ...Object.keys(also)].find((one) => effectOf(one) === 'generates')
    if (user !== undefined) totals.addGenerations(user, usual.generations, generations)
    // After changing a state, the run waits until the valid request is accepted again.
    if (scenario?.isExclusive && isOperationId(of)) addValid(of, 1)
  }

  /** Valid requests, once per run: the operation's own, and those with additions of a case. */
  function addControls(of: OperationId, names: readonly string[]): void {
    if (!target.keys.full) return
    for (const name of ['', ...names].map((more) => `${of} ${more}`)) {
      if (controlled.has(name)) continue
      controlled.add(name)
      const reads = operationOf(of).reads
      if (reads && !readsDeclared(of, target.file)) addControls(reads.madeBy, [])
      if (runs.readOnly && effectOf(of) !== 'none' && !reads) continue
      addUploads(granting[of].needs)
      addValid(of, operationOf(of).tries)
    }
  }

  function addValid(of: OperationId, most: number): void {
    // What stands for an undeclared one is refused.
    const isAccepted = !operationOf(of).reads && isDeclared(target.file, granting[of])
    const effect = isAccepted ? effectOf(of) : 'none'
    totals.add(of, { requests: 1, most, creations: effect === 'creates' ? 1 : 0 })
    if (effect === 'generates') totals.addGenerations(of, 1)
  }

  /** Needed files that the target does not declare by id: each is uploaded once. */
  function addUploads(needs: readonly Need[]): void {
    for (const alternatives of needs.map((need) => [need].flat())) {
      const [pointer = ''] = alternatives
      const declared = getAt(target.file, pointer)
      const isByPath = Object.hasOwn(Object(declared) as object, 'upload')
      const isMade = canUpload(target) && alternatives.includes(`/operations/${uploadOperation}`)
      if (isByPath || (declared === undefined && isMade)) uploaded.add(pointer)
    }
  }

  function addPolls(id: OperationId): void {
    const reads = operationOf(id).reads
    if (!reads) return
    const [reading, making] = [totals.of(id), totals.of(reads.madeBy)]
    making.requests += reading.generations
    making.most += reading.mostGenerations
    totals.addGenerations(reads.madeBy, reading.generations, reading.mostGenerations)
    reading.generations = 0
    reading.requests += making.generations * polls.usual
    reading.most += making.mostGenerations * polls.most
  }
}

type Total = { -readonly [name in keyof Estimate]: Estimate[name] } & { mostGenerations: number }

interface Counts
  extends Pick<Estimate, 'requests'>, Partial<Pick<Estimate, 'most' | 'creations'>> {}

function createTotals(target: Target, readOnly: boolean) {
  const totals = new Map<string, Total>()
  const of = (operation: string): Total => {
    const none = { requests: 0, most: 0, creations: 0, generations: 0, mostGenerations: 0 }
    const total = totals.get(operation) ?? { operation, ...none }
    totals.set(operation, total)
    return total
  }
  return {
    of,
    all: (): Estimate[] =>
      [...totals.values()].map(({ operation, requests, most, creations, generations }) => ({
        ...{ operation, most, generations },
        ...{ requests: Math.ceil(requests), creations: Math.ceil(creations) },
      })),
    add(name: string, counts: Counts, mostUploads = Infinity): void {
      const { requests, most = requests, creations = 0 } = counts
      const total = of(name)
      total.requests += requests
      total.most += most
      total.creations += creations
      if (readOnly || !isOperationId(name) || !uploadsFirst(name, target)) return
      const uploads = of(uploadOperation)
      uploads.requests += Math.min(mostUploads, requests)
      uploads.most += Math.min(mostUploads, most)
      uploads.creations += Math.min(mostUploads, requests)
    },
    addGenerations(name: string, usually: number, most = usually): void {
      const total = of(name)
      total.generations += usually
      total.mostGenerations += most
    },
  }
}

const canUpload = (one: Target): boolean => one.operations[uploadOperation]?.content !== undefined

function uploadsFirst(id: OperationId, target: Target): boolean {
  const role = operationOf(id).freshFileAt
  return (
    role !== undefined && canUpload(target) && target.operations[id]?.fields[role] !== undefined
  )
}
