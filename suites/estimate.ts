import type { CatalogueRequirement } from '../catalogue/catalogue.ts'
import { grantedRequirement, requirementOf } from '../catalogue/catalogue.ts'
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
import type { Need } from '../catalogue/requirement.ts'
import type { Plan } from '../harness/engine/index.ts'
import { isExclusive, readsDeclared, type Target } from '../harness/target-file/index.ts'
import { getAt } from '../schemas/json.ts'
import { requestsOf, type Runs, usualShare } from './planned-cases.ts'

/** Most that a run sends for one operation, as if each control were granted, and what it usually sends. */
export interface Estimate {
  readonly operation: string
  /** Requests to a target that keeps the interface and has quick jobs. */
  readonly typical: number
  readonly requests: number
  readonly creations: number
  readonly generations: number
}

/** Polls of an object while the pause between them grows to its longest; and until a quick one ends. */
const growingPolls = 40
const fewPolls = 8

/** Requests that the run would send, per operation, in catalogue order. Throttled requests, which are sent again, are not counted. */
export function estimate(plan: Plan, target: Target, runs: Runs): Estimate[] {
  const share = usualShare[runs.depth]
  const totals = createTotals(target)
  const controlled = new Set<string>()
  const uploaded = new Set<string>()
  // The first request checks that the target answers; it is sent again while nothing comes back.
  totals.add(firstOperation, { most: 2, usually: 1 }, 'none')
  for (const [id, entry] of plan)
    if (entry.run) addRow(requirementOf(id as CatalogueRequirement['id']))
  totals.add(uploadOperation, once(uploaded.size), 'creates')
  for (const [id, absence] of Object.entries(target.absent))
    if (absence === 'not-served' && isOperationId(id)) totals.add(id, once(1), 'none')
  for (const { id } of operations) addPolls(id)
  return totals.all().filter(({ requests }) => requests > 0)

  function addRow(requirement: CatalogueRequirement): void {
    const { id, needs, effect } = requirement
    const scenario = target.scenarios[id]
    const of = scenario?.operation ?? requirement.operation
    const sent = requestsOf(requirement, target, runs)
    if (isOperationId(of)) addControls(of, sent.controls)
    addUploads(scenario ? [] : needs)
    const creates = effect === 'creates'
    if (sent.generations > 0 && !creates) totals.add(of, sent, 'generates', sent.generations)
    else totals.add(of, sent, effect, creates ? sent.most : 0)
    for (const [other, more] of Object.entries(sent.also)) {
      const isUse = isOperationId(other) && effectOf(other) === 'generates'
      totals.add(other, { most: more, usually: more * share }, 'none')
      // Requests that generate use the created objects.
      if (creates && isUse) totals.of(other).generations += sent.generations
    }
    // After what it changed, the run asks until the valid request is granted again.
    if (scenario && isExclusive(scenario) && isOperationId(of))
      totals.add(of, once(1), effectOf(of))
  }

  /** Valid requests, each once a run: the operation's own, and those with what a case adds beside its fault. */
  function addControls(of: OperationId, names: readonly string[]): void {
    for (const name of ['', ...names]) {
      if (controlled.has(`${of} ${name}`)) continue
      controlled.add(`${of} ${name}`)
      const reads = readsOf(of)
      if (reads && !readsDeclared(of, target.file)) addControls(reads.madeBy, [])
      const effect = effectOf(of)
      if (runs.readOnly && effect !== 'none' && !reads) continue
      addUploads(requirementOf(grantedRequirement[of]).needs)
      totals.add(of, { most: triesOf(of), usually: 1 }, reads ? 'none' : effect, 1)
    }
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
    const most = growingPolls + Math.ceil(target.limits.jobTimeoutMs / reads.everyMs)
    reading.requests += making.generations * most
    reading.typical += Math.ceil(making.generations * share) * fewPolls
  }
}

const effectOf = (id: OperationId): Effect => requirementOf(grantedRequirement[id]).effect

/** Number of requests: most, and usually. */
interface Counted {
  readonly most: number
  readonly usually: number
}

const once = (count: number): Counted => ({ most: count, usually: count })

type Total = { -readonly [name in keyof Estimate]: Estimate[name] }

function createTotals(target: Target) {
  const totals = new Map<string, Total>()
  const of = (name: string): Total => {
    const none = { operation: name, typical: 0, requests: 0, creations: 0, generations: 0 }
    const known = totals.get(name) ?? none
    totals.set(name, known)
    return known
  }
  return {
    of,
    all: (): Total[] =>
      [...totals.values()].map((total) => ({ ...total, typical: Math.ceil(total.typical) })),
    /** @param granted how many of them a conforming target would grant, by that effect */
    add(name: string, sent: Counted, effect: Effect, granted = sent.most): void {
      const total = of(name)
      total.requests += sent.most
      total.typical += sent.usually
      if (effect === 'creates') total.creations += granted
      if (effect === 'generates') total.generations += granted
      if (!isOperationId(name) || !uploadsFirst(name, target)) return
      // A refused request adds no file: one serves all cases of a requirement.
      const files = (requests: number): number =>
        effect === 'none' ? Math.min(1, requests) : requests
      const uploads = of(uploadOperation)
      uploads.requests += files(sent.most)
      uploads.typical += files(sent.usually)
      uploads.creations += files(sent.most)
    },
  }
}

/** True if each request of the operation names a file that is uploaded first. */
function uploadsFirst(id: OperationId, target: Target): boolean {
  const role = operation(id).freshFileAt
  const canUpload = target.operations[uploadOperation]?.content !== undefined
  return role !== undefined && canUpload && target.operations[id]?.fields[role] !== undefined
}
