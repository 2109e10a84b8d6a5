import fs from 'node:fs'
import { grantedRow } from '../../catalogue/granted-rows.ts'
import { ownId, redUnder } from './also-red.ts'

interface Batch {
  readonly switches: string[]
  /** Requirements that are red in it: no two switches share one, so that none of them hides behind another. */
  readonly red: Set<string>
  /** Operations of its switches, one entry a switch. */
  readonly operations: string[]
  /** Operations that have to be in order but for one switch. */
  readonly reserved: Set<string>
}

/** What the requirements with the most switches need; the smaller the batches, the less can hide in them. */
const leastBatches = 42

const target = JSON.parse(
  fs.readFileSync(new URL('../../fixtures/reference.target.json', import.meta.url), 'utf8'),
) as { readonly scenarios: Readonly<Record<string, { readonly operation?: string }>> }

const controls: ReadonlySet<string> = new Set(Object.values(grantedRow))

/** The operation whose requests show the switch. */
function operationOf(id: string): string {
  return target.scenarios[id]?.operation ?? id.slice(0, id.indexOf('/'))
}

/** Whether a requirement is about the states of jobs and what is shown of them. */
export function isOfStates(id: string): boolean {
  return /^jobs\.(create\/(202|409)|retrieve\/200)/.test(id)
}

/** Operations that the switch leaves without a control, a fresh file or a job that can be trusted. */
function disturbedBy(id: string): readonly string[] {
  if (isOfStates(id)) return ['jobs.create', 'jobs.retrieve']
  if (id.startsWith('files.upload/2xx')) return ['files.upload', 'graphs.add-file']
  return controls.has(id) ? [operationOf(id)] : []
}

function fits(batch: Batch, defect: string): boolean {
  const id = ownId(defect)
  if (redUnder(defect).some((red) => batch.red.has(red)) || batch.reserved.has(operationOf(id))) return false
  return !disturbedBy(id).some((operation) => batch.operations.includes(operation) || batch.reserved.has(operation))
}

function newBatch(): Batch {
  return { switches: [], red: new Set(), operations: [], reserved: new Set() }
}

/** The batch with the fewest switches of that operation, of these the smallest. */
function emptiest(batches: readonly Batch[], operation: string): Batch | undefined {
  const weight = ({ operations, switches }: Batch): number =>
    operations.filter((each) => each === operation).length * 1000 + switches.length
  return batches.toSorted((one, other) => weight(one) - weight(other))[0]
}

/** Deals switches to servers in which none stands in another's way; what breaks answers of every operation is alone. */
export function batches(switches: readonly string[]): string[][] {
  const isAlone = (defect: string): boolean =>
    defect.startsWith('envelope/') || ownId(defect) === 'pdf.parse/4xx-removed'
  const isDisturbing = (defect: string): boolean => disturbedBy(ownId(defect)).length > 0
  const shared = Array.from({ length: leastBatches }, newBatch)
  const together = switches.filter((defect) => !isAlone(defect))
  // The exacting ones first, while there is room.
  for (const defect of [...together.filter(isDisturbing), ...together.filter((each) => !isDisturbing(each))]) {
    const id = ownId(defect)
    let batch = emptiest(
      shared.filter((each) => fits(each, defect)),
      operationOf(id),
    )
    if (!batch) shared.push((batch = newBatch()))
    batch.switches.push(defect)
    batch.operations.push(operationOf(id))
    for (const red of redUnder(defect)) batch.red.add(red)
    for (const operation of disturbedBy(id)) batch.reserved.add(operation)
  }
  return [...switches.filter(isAlone).map((defect) => [defect]), ...shared.map((batch) => batch.switches)]
}
