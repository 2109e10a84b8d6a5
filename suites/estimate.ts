import { type CatalogueRequirement, requirementOf, granting } from '../catalogue/catalogue.ts'
import {
  type Effect,
  firstOperation,
  isOperationId,
  operationOf,
  type OperationId,
  operations,
  readsOf,
  triesOf,
  uploadOperation,
} from '../catalogue/operations.ts'
import type { Need } from '../catalogue/requirement.ts'
import type { Plan } from '../harness/client/index.ts'
import { isExclusive, readsDeclared, type Target } from '../harness/target/index.ts'
import { getAt } from '../schemas/json.ts'
import { requestsOf, type Runs, usualShare } from './plan.ts'

/** Requests of a run for one operation, if each control is accepted. */
export interface Estimate {
  readonly operation: string
  /** To a conforming target with short jobs. */
  readonly requests: number
  /** As many at most, if answers are wrong. */
  readonly most: number
  readonly creations: number
  readonly generations: number
}

/** Polls until a short job ends. */
const polls = 8

const effectOf = (id: OperationId): Effect => granting(id).effect

/** Requests per operation, in catalogue order, without retries of throttled ones. */
export function estimate(plan: Plan, target: Target, runs: Runs): Estimate[] {
  const share = usualShare[runs.depth]
  const totals = createTotals(target, runs.readOnly)
  const controlled = new Set<string>()
  const uploaded = new Set<string>()
  // The first request checks that the target answers, and is repeated until it does.
  totals.add(firstOperation, 2, 'none', { usually: 1 })
  // What an unknown path gets is compared with each operation, until one differs.
  totals.add('envelope', 1 + operations.length, 'none', { usually: 1 })
  for (const [id, entry] of plan)
    if (entry.run) addRequirement(requirementOf(id as CatalogueRequirement['id']))
  totals.add(uploadOperation, uploaded.size, 'creates')
  for (const [id, absence] of Object.entries(target.absent))
    if (absence === 'not-served' && isOperationId(id)) totals.add(id, 1, 'none')
  for (const { id } of operations) addPolls(id)
  return totals.all().filter((one) => one.most > 0)

  function addRequirement(requirement: CatalogueRequirement): void {
    const { id, needs, effect } = requirement
    const scenario = target.scenarios[id]
    const of = scenario?.operation ?? requirement.operation
    const { most, usually, generations, also, controls } = requestsOf(requirement, target, runs)
    if (isOperationId(of)) addControls(of, controls)
    addUploads(scenario ? [] : needs)
    const creates = effect === 'creates'
    if (generations > 0 && !creates)
      totals.add(of, most, 'generates', { usually, granted: generations })
    else totals.add(of, most, effect, { usually, granted: creates ? most : 0 })
    for (const [other, more] of Object.entries(also)) {
      totals.add(other, more, 'none', { usually: more * share })
      // Requests that generate use the created objects.
      if (creates && isOperationId(other) && effectOf(other) === 'generates')
        totals.of(other).generations += generations
    }
    // After changing a state, the run waits until the valid request is accepted again.
    if (scenario && isExclusive(scenario) && isOperationId(of)) totals.add(of, 1, effectOf(of))
  }

  /** Valid requests, once per run: the operation's own, and those with additions of a case. */
  function addControls(of: OperationId, names: readonly string[]): void {
    for (const name of ['', ...names].map((more) => `${of} ${more}`)) {
      if (controlled.has(name)) continue
      controlled.add(name)
      const reads = readsOf(of)
      if (reads && !readsDeclared(of, target.file)) addControls(reads.madeBy, [])
      const effect = effectOf(of)
      if (runs.readOnly && effect !== 'none' && !reads) continue
      addUploads(granting(of).needs)
      totals.add(of, triesOf(of), reads ? 'none' : effect, { usually: 1, granted: 1 })
    }
  }

  /** Needed files that the target does not declare by id: each is uploaded once. */
  function addUploads(needs: readonly Need[]): void {
    for (const alternatives of needs.map((need) => [need].flat())) {
      const [pointer = ''] = alternatives
      const declared = getAt(target.file, pointer)
      const isByPath = Object.hasOwn(Object(declared) as object, 'upload')
      const isMade = alternatives.includes(`/operations/${uploadOperation}`)
      if (isByPath || (declared === undefined && isMade)) uploaded.add(pointer)
    }
  }

  function addPolls(id: OperationId): void {
    const reads = readsOf(id)
    if (!reads) return
    const [reading, making] = [totals.of(id), totals.of(reads.madeBy)]
    making.generations += reading.generations
    making.most += reading.generations
    reading.generations = 0
    reading.most += making.generations * polls
    reading.requests += Math.ceil(making.generations * share) * polls
  }
}

type Total = { -readonly [name in keyof Estimate]: Estimate[name] }

interface Counted {
  readonly usually?: number
  /** Number that a conforming target accepts. */
  readonly granted?: number
}

function createTotals(target: Target, readOnly: boolean) {
  const totals = new Map<string, Total>()
  const of = (name: string): Total => {
    const none = { operation: name, requests: 0, most: 0, creations: 0, generations: 0 }
    const known = totals.get(name) ?? none
    totals.set(name, known)
    return known
  }
  return {
    of,
    all: (): Total[] =>
      [...totals.values()].map((total) => ({ ...total, requests: Math.ceil(total.requests) })),
    add(name: string, most: number, effect: Effect, counted: Counted = {}): void {
      const { usually = most, granted = most } = counted
      const total = of(name)
      total.requests += usually
      total.most += most
      if (effect === 'creates') total.creations += granted
      if (effect === 'generates') total.generations += granted
      if (readOnly || !isOperationId(name) || !uploadsFirst(name, target)) return
      // A refused request adds no file: one serves all cases of a requirement.
      const limit = effect === 'none' ? 1 : Infinity
      const uploads = of(uploadOperation)
      uploads.requests += Math.min(limit, usually)
      uploads.most += Math.min(limit, most)
      uploads.creations += Math.min(limit, most)
    },
  }
}

function uploadsFirst(id: OperationId, target: Target): boolean {
  const role = operationOf(id).freshFileAt
  const canUpload = target.operations[uploadOperation]?.content !== undefined
  return role !== undefined && canUpload && target.operations[id]?.fields[role] !== undefined
}
