import { createHash } from 'node:crypto'
import type { TargetFile } from '../../harness/target/model.ts'
import { defects, needsSocket } from '../../reference/server.ts'
import { observedRequirements } from '../../harness/checks/envelope-watch.ts'
import { operations } from '../../catalogue/operations.ts'
import { ownId, redUnder } from './also-red.ts'
import { withoutCleanup, withoutPdf } from './changed-targets.ts'
import { cohortsIn, assign, disturbedBy, isOfStates, operationOf } from './assign.ts'

/** One broken server of the kill matrix. */
export interface BrokenServer {
  /** How its test is called: its first switch, and how many more there are. */
  readonly name: string
  readonly defects: readonly string[]
  readonly variants: readonly string[]
  /** Patterns of the requirements that it is asked for; none: all. */
  readonly only: readonly string[]
  /** How many cases of each kind it is asked for; default `full`. */
  readonly depth?: 'quick' | 'full'
  /** Changes the reference's own target file. */
  readonly change: (file: TargetFile) => TargetFile
}

/** The server that has these switches on. */
export function brokenServer(switches: readonly string[], assignment = ''): BrokenServer {
  const removed = switches.some((name) => ownId(name) === 'pdf.parse/4xx-removed')
  const [first = '', ...more] = switches
  return {
    name: [assignment, first, more.length === 0 ? '' : `and ${more.length} more`]
      .filter((word) => word !== '')
      .join(' '),
    defects: switches,
    variants: removed ? ['pdf-removed'] : [],
    only: [],
    change: (file) => (removed ? withoutPdf(withoutCleanup(file)) : withoutCleanup(file)),
  }
}

/** Operations that have far more switches than others, and are judged by themselves for that. */
const crowded: readonly (readonly string[])[] = [
  ['jobs.create', 'jobs.retrieve'],
  ['chat.create', 'graphs.query'],
  ['files.upload', 'files.retrieve', 'files.list', 'graphs.create', 'graphs.add-file'],
]
const others: readonly string[] = operations
  .map(({ id }) => id)
  .filter((id) => !crowded.flat().includes(id))

/** The operations that the first assignment asks for with the switch. */
function groupOf(defect: string): readonly string[] {
  // Only a listing has a query.
  const isOfQuery = /^envelope\/bad-input-no-5xx#.*-query$/.test(defect)
  const operation = isOfQuery ? 'files.list' : operationOf(ownId(defect))
  return crowded.find((group) => group.includes(operation)) ?? others
}

/** Requirements that the states of jobs may break, or that are asked of a server in which nothing else of jobs can be trusted. */
const ofStates = [
  'jobs.create/202-*',
  'jobs.create/409-*',
  'jobs.create/4xx-*',
  'jobs.create/400-missing-*',
  'jobs.retrieve/200-*',
]

/** A server that is asked for some operations alone, and for what its switches concern. */
function narrowServer(
  switches: readonly string[],
  among: readonly string[],
  assignment: string,
): BrokenServer {
  const red = switches.flatMap(redUnder)
  const asked = [...among, ...red.map(operationOf), ...switches.flatMap(disturbedBy)].map(
    (each) => `${each}/*`,
  )
  const of = switches.some((each) => isOfStates(ownId(each))) ? ofStates : asked
  const only = new Set([...of, ...observedRequirements, ...red])
  return { ...brokenServer(switches, assignment), only: [...only] }
}

const onSockets = defects.filter(needsSocket)

/** Switches whose work shows by the response to another, later request. */
const shownLater: ReadonlySet<string> = new Set(['files.upload/2xx-attached-to-graph'])

/** Whether no stamp tells what turned its requirement red: silence carries none, nor does an answer to a later request. */
export function needsOtherCohort(defect: string): boolean {
  return (/#no-answer$/.test(defect) || shownLater.has(defect)) && !isOfStates(ownId(defect))
}

const inProcess = defects.filter((defect) => !needsSocket(defect))

const first = [...crowded, others].map((among) => {
  const switches = inProcess.filter((defect) => groupOf(defect) === among)
  return { among, groups: assign(switches, 'first') }
})
const met = cohortsIn(first.flatMap(({ groups }) => groups))

/** Those whose switches show on a socket alone: they take real time, most of which is waiting. */
export const serversOnSockets: readonly BrokenServer[] = assign(onSockets, 'first').map((group) =>
  brokenServer(group, 'on a socket:'),
)

/**
 * The servers of the kill matrix that are judged in this process. Each switch is on in one of them, and the evidence of
 * what it turns red carries its stamp; one without a stamp is on in a second server, in another cohort: if it goes unseen
 * behind another, or turns a wrong requirement red, it shows in one of the two.
 */
export const brokenServers: readonly BrokenServer[] = [
  ...first.flatMap(({ groups, among }) =>
    groups.map((group) => narrowServer(group, among, 'first assignment:')),
  ),
  ...assign(inProcess.filter(needsOtherCohort), 'second', met).map((group) =>
    brokenServer(group, 'second assignment:'),
  ),
]

/** Test files that share the matrix. */
export const parts = 4

/** The servers of one part, assigned by a hash: their costs are spread, and a new switch moves no other. */
export function serversOf(part: number): readonly BrokenServer[] {
  return brokenServers.filter(
    ({ name }) => createHash('sha256').update(name).digest().readUInt32BE() % parts === part,
  )
}
