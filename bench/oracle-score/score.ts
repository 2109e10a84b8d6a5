import { createHash } from 'node:crypto'
import { operations } from '../../catalogue/operations.ts'
import { judgeOperation } from './judge-operation.ts'
import type { Place } from './place.ts'
import { type Recorded, record } from './places.ts'

/** What came of one change, as data. */
export interface Finding extends Omit<Place, 'alter'> {
  /** Requirements that turned red. */
  readonly failed: readonly string[]
}

export interface Score {
  /** How many changes there are in all. */
  readonly places: number
  readonly findings: readonly Finding[]
  /** Chosen, but they came to nothing in that run. */
  readonly unmet: number
}

/** Which changes are made. */
export interface Chosen {
  /** Infinity for all. */
  readonly count: number
  /** An operation whose answers alone are changed. */
  readonly only: string | undefined
  /** This one of so many parts, from 0. */
  readonly part: number
  readonly parts: number
}

type Answers = Recorded['answers']

const digest = ({ operation, subject, signature, status, name }: Place): string =>
  createHash('sha256').update(`${operation} ${subject} ${signature} ${status} ${name}`).digest('hex')

/** The same ones each time: one of each kind (operation, one answer or all, status, change) before a second of any. */
function choose(places: readonly Place[], count: number): Place[] {
  const met = new Map<string, number>()
  const drawn = places.map((place) => ({ place, by: digest(place) })).sort((a, b) => (a.by < b.by ? -1 : 1))
  const ranked = drawn.map(({ place }) => {
    const scope = place.signature === undefined ? 'all' : 'one'
    const kind = `${place.operation} ${scope} ${place.status} ${place.name}`
    const rank = met.get(kind) ?? 0
    met.set(kind, rank + 1)
    return { place, rank }
  })
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ place }) => place)
}

/** Makes the change in a run of its own; undefined if it came to nothing there. */
async function tell({ alter, ...place }: Place, recorded: Answers): Promise<Finding | undefined> {
  const { operation, signature } = place
  const met = { changes: 0 }
  const failed = await judgeOperation(operation, async (given) => {
    const { asked, ask } = given
    if (asked.operation !== operation || (signature !== undefined && signature !== asked.signature)) return ask()
    const altered = await alter({ ...given, recorded })
    if (altered.changed) met.changes++
    return altered.result
  })
  return met.changes > 0 ? { ...place, failed } : undefined
}

/** Makes one part of the chosen changes, one a run, and tells which turn a requirement red. The same ones each time. */
export async function scorePart(
  { count, only, part, parts }: Chosen,
  onDone: (done: number, of: number) => void,
): Promise<Score> {
  const answers = new Map<string, Answers>()
  const places: Place[] = []
  for (const { id } of operations) {
    if (only !== undefined && id !== only) continue
    const recorded = await record(id)
    places.push(...recorded.places)
    answers.set(id, recorded.answers)
  }
  const findings: Finding[] = []
  let unmet = 0
  const own = choose(places, count).filter((_, at) => at % parts === part)
  for (const place of own) {
    const finding = await tell(place, answers.get(place.operation) as Answers)
    if (finding) findings.push(finding)
    else unmet++
    onDone(findings.length + unmet, own.length)
  }
  return { places: places.length, findings, unmet }
}
