import { createHash } from 'node:crypto'
import { operations, type OperationId } from '../../catalogue/operations.ts'
import { allowance } from './allowed.ts'
import { operationOf } from './asked.ts'
import { type Change, nameOf } from './change.ts'
import { changesOf, differ } from './changes.ts'
import { judgeOperation } from './judge-operation.ts'

/** One change to one recorded response. */
export interface Place {
  readonly operation: OperationId
  /** Which response: of which request, and the how manyeth of its kind. */
  readonly signature: string
  /** Status of the answer before the change. */
  readonly status: number
  readonly change: Change
  readonly name: string
  /** Why a conforming server may make it; undefined if it may not. */
  readonly allowed: string | undefined
}

export interface Finding extends Place {
  /** Requirements that turned red. */
  readonly failed: readonly string[]
}

export interface Score {
  readonly places: number
  readonly findings: readonly Finding[]
  /** Chosen, but the response did not come in that run. */
  readonly unmet: number
}

/** Runs at once: most of their time is waiting. */
const width = 8

/** Every change to every response that the operation gives in a run. */
async function record(operation: OperationId): Promise<Place[]> {
  const places: Place[] = []
  const failed = await judgeOperation(operation, (signature, request, response) => {
    if (operationOf(request) !== operation) return response
    const { status } = response
    for (const change of changesOf(response)) {
      const name = nameOf(change)
      places.push({ operation, signature, status, change, name, allowed: allowance(operation, status, name) })
    }
    return response
  })
  if (failed.length > 0) throw new Error(`the reference fails ${failed.join(', ')} without any change`)
  return places
}

const digest = ({ operation, signature, name }: Place): string =>
  createHash('sha256').update(`${operation} ${signature} ${name}`).digest('hex')

/** The same ones each time: one of each kind (operation, status, change) before a second of any. */
function choose(places: readonly Place[], count: number): Place[] {
  const met = new Map<string, number>()
  const drawn = places.map((place) => ({ place, by: digest(place) })).sort((a, b) => (a.by < b.by ? -1 : 1))
  const ranked = drawn.map(({ place }) => {
    const kind = `${place.operation} ${place.status} ${place.name}`
    const rank = met.get(kind) ?? 0
    met.set(kind, rank + 1)
    return { place, rank }
  })
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ place }) => place)
}

/** Makes the change in a run of its own; undefined if the response did not come, or was another one. */
async function tell({ operation, signature, status, change, ...place }: Place): Promise<Finding | undefined> {
  const met = { times: 0 }
  const failed = await judgeOperation(operation, (name, request, response) => {
    if (name !== signature || response.status !== status || operationOf(request) !== operation) return response
    const changed = change.apply(response)
    if (differ(changed, response)) met.times++
    return changed
  })
  return met.times > 0 ? { operation, signature, status, change, ...place, failed } : undefined
}

interface Settings {
  readonly count: number
  /** An operation whose answers alone are changed. */
  readonly only: string | undefined
  readonly onFinding: (done: number) => void
}

/** Makes `count` of all changes, one a run, and tells which turn a requirement red. The same ones each time. */
export async function oracleScore({ count, only, onFinding }: Settings): Promise<Score> {
  const places: Place[] = []
  for (const { id } of operations) if (only === undefined || id === only) places.push(...(await record(id)))
  const findings: Finding[] = []
  let unmet = 0
  const queue = choose(places, count).values()
  const worker = async (): Promise<void> => {
    for (const place of queue) {
      const finding = await tell(place)
      if (finding) findings.push(finding)
      else unmet++
      onFinding(findings.length + unmet)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return { places: places.length, findings, unmet }
}
