import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { grantedRequirement } from '../../catalogue/catalogue.ts'
import { ownId, redUnder } from './also-red.ts'

/** Switches that are on in one server. */
interface Group {
  readonly switches: string[]
  /** Requirements that are red in it: no two switches share one, so that none of them hides behind another. */
  readonly red: Set<string>
  /** Operations of its switches, one entry a switch. */
  readonly operations: string[]
  /** Requirements that have to be in order for its switches to show. */
  readonly needed: Set<string>
  /** Operations that have to be in order but for one switch. */
  readonly reserved: Set<string>
}

const target = JSON.parse(
  fs.readFileSync(new URL('../../fixtures/reference.target.json', import.meta.url), 'utf8'),
) as { readonly scenarios: Readonly<Record<string, { readonly operation?: string }>> }

/** Red beside the row of its operation if a server breaks on bad input: several may turn it red together, each with its own row. */
const isShared = (id: string): boolean => id === 'envelope/bad-input-no-5xx'

const controls: ReadonlySet<string> = new Set(Object.values(grantedRequirement))

/** The operation whose requests show the switch. */
export function operationOf(id: string): string {
  return target.scenarios[id]?.operation ?? id.slice(0, id.indexOf('/'))
}

/** Whether a requirement is about what creations do to an application: nothing else of jobs can be trusted then. */
export function isOfStates(id: string): boolean {
  return /^jobs\.(create\/(202|409|4xx)|retrieve\/200-outcome)/.test(id)
}

/** Operations that the switch leaves without a control, a fresh file or a job that can be trusted. */
export function disturbedBy(defect: string): readonly string[] {
  const id = ownId(defect)
  // A job that cannot be read, or not by itself, tells nobody whether its application is idle.
  if (
    isOfStates(id) ||
    /^jobs\.retrieve\/200-(job#(no-answer|closed|no-http)|identity#(newest-only|id))$/.test(defect)
  )
    return ['jobs.create', 'jobs.retrieve']
  // Whether a file is attached to one graph alone, and stays there, shows in a graph that was created.
  if (/^files\.upload\/2xx-attached-to-graph#(replaces|all-graphs|first-graph)$/.test(defect))
    return ['files.upload', 'graphs.add-file', 'graphs.create']
  // A PDF is uploaded to be parsed.
  if (defect === 'files.upload/2xx-accepted#pdf')
    return ['files.upload', 'graphs.add-file', 'pdf.parse']
  if (id.startsWith('files.upload/2xx')) return ['files.upload', 'graphs.add-file']
  // A graph that two creations share has what was added to either.
  if (id === 'graphs.create/2xx-own-id') return ['graphs.add-file', 'graphs.create']
  // A graph that is gone is not used.
  if (defect === 'graphs.create/400-duplicate-name#used') return ['graphs.create']
  // What another graph is for shows by a creation and two additions, a retrieval by what was uploaded.
  const isOfCreated = /^graphs\.add-file\/409-already-in-graph#(created|emptied)$/.test(defect)
  if (isOfCreated) return ['graphs.add-file', 'graphs.create']
  // It shows on the retrieval of an unknown job, which must be refused for that.
  if (id === 'envelope/status-tpe-pair') return ['jobs.retrieve']
  if (id === 'files.retrieve/2xx-accepted') return ['files.retrieve', 'files.upload']
  // What a refusal leaves behind shows by refusals and by the creations after them.
  if (id.endsWith('/4xx-no-effect')) return [operationOf(id)]
  // Its requests are unreadable bodies of all operations and an upload: what a closed connection hides, others show.
  if (id === 'envelope/large-body') return ['pdf.parse', 'vision.analyze', 'files.upload']
  // The next request on its connection is answered as if it were wrong, too.
  if (defect.endsWith('#spoils-connection')) return [operationOf(id)]
  if (id.endsWith('-removed')) return [operationOf(id)]
  // The envelope of a 401 is changed by one of them at most.
  if (defect === 'envelope/message-keys') return [envelopeOf401]
  if (/\/(2xx|200)-query-config#empty$|^chat\.create\/200-(text|image)-parts/.test(defect))
    return [furtherControls(operationOf(id))]
  return controls.has(id) ? [operationOf(id)] : []
}

/** Need of switches that show by probes which add something beside their fault: that is to be granted without it. */
const furtherControls = (operation: string): string => `further controls of ${operation}`

/** Need of switches that the shape of envelopes shows: a 401 comes to every run. */
const envelopeOf401 = 'the envelope of a 401'

/** Gives what has to be in order for the switch to show. */
function needs(defect: string): readonly string[] {
  const isShape = ownId(defect) === 'envelope/shape'
  const needsUploads =
    /^(files.list\/2xx-(accepted#(many|empty-file)|filtered)|files.retrieve\/2xx-own-record|graphs.create\/2xx-usable#additions)$/.test(
      defect,
    )
  return [
    ...redUnder(defect).map(operationOf),
    ...(isShape ? [envelopeOf401] : []),
    ...(/\/400-(query-config|malformed-(messages|tools|tool-choice)|invalid-stream-options)(#|$)/.test(
      defect,
    )
      ? [furtherControls(operationOf(ownId(defect)))]
      : []),
    ...(needsUploads ? ['files.upload'] : []),
    // Each way to break it shows on one operation.
    ...(ownId(defect) === 'envelope/charset-parameter' ? ['web-search.run', 'graphs.create'] : []),
    // Whether a graph can be used shows by its query.
    ...(ownId(defect) === 'graphs.create/2xx-usable' ? ['graphs.query'] : []),
    ...(defect === 'graphs.create/2xx-usable#additions' ? ['graphs.add-file'] : []),
  ]
}

function fits(group: Group, defect: string): boolean {
  const operations = needs(defect)
  if (
    redUnder(defect).some((red) => group.red.has(red)) ||
    operations.some((each) => group.reserved.has(each))
  )
    return false
  // A server on which two operations are silent at once is taken for one that is going away.
  const isSilent = (one: string): boolean => one.endsWith('#no-answer')
  if (isSilent(defect) && group.switches.some(isSilent)) return false
  const taken = [...group.operations, ...group.needed, ...group.reserved]
  return !disturbedBy(defect).some((operation) => taken.includes(operation))
}

function newGroup(): Group {
  return { switches: [], red: new Set(), operations: [], needed: new Set(), reserved: new Set() }
}

/** As many servers as the requirement needs that has the most switches. */
function leastGroups(switches: readonly string[]): number {
  const counts = new Map<string, number>()
  for (const red of switches.flatMap(redUnder))
    if (!isShared(red)) counts.set(red, (counts.get(red) ?? 0) + 1)
  return Math.max(0, ...counts.values())
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** For each switch, those that share a server with it. */
export type Cohorts = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Assigns switches to servers in which none hides another.
 * @param seed each gives every switch another cohort
 * @param met who shared a server under another seed: those of one operation are kept apart, and others if possible
 */
export function assign(
  switches: readonly string[],
  seed: string,
  met: Cohorts = new Map(),
): string[][] {
  const groups = Array.from({ length: leastGroups(switches) }, newGroup)
  const isDisturbing = (defect: string): boolean => disturbedBy(defect).length > 0
  const places = new Map(switches.map((defect) => [defect, hash(seed + defect)]))
  const mixed = switches.toSorted((one, other) => (places.get(one)! < places.get(other)! ? -1 : 1))
  // The exacting ones first, while there is room.
  for (const defect of [
    ...mixed.filter(isDisturbing),
    ...mixed.filter((each) => !isDisturbing(each)),
  ]) {
    const operation = operationOf(ownId(defect))
    const cohort = met.get(defect)
    const related = (other: string): boolean => operationOf(ownId(other)) === operation
    const room = groups.flatMap((group) => {
      if (!fits(group, defect)) return []
      const again = cohort ? group.switches.filter((other) => cohort.has(other)) : []
      if (again.some(related)) return []
      const alike = group.operations.filter((each) => each === operation)
      return [{ group, weight: again.length * 10_000 + alike.length * 100 + group.switches.length }]
    })
    let group = room.toSorted((one, other) => one.weight - other.weight)[0]?.group
    if (!group) groups.push((group = newGroup()))
    group.switches.push(defect)
    group.operations.push(operation)
    for (const red of redUnder(defect)) if (!isShared(red)) group.red.add(red)
    for (const needed of needs(defect)) group.needed.add(needed)
    for (const each of disturbedBy(defect)) group.reserved.add(each)
  }
  return groups.map((group) => group.switches).filter((group) => group.length > 0)
}

export function cohortsIn(groups: readonly (readonly string[])[]): Cohorts {
  const cohort = new Map<string, Set<string>>()
  for (const group of groups) {
    for (const one of group) {
      const others = cohort.get(one) ?? new Set()
      for (const other of group) if (other !== one) others.add(other)
      cohort.set(one, others)
    }
  }
  return cohort
}
