import { createHash } from 'node:crypto'
import type { TargetFile } from '../../harness/target/model.ts'
import { defects, needsSocket } from '../../reference/server.ts'
import { ownId } from './also-red.ts'
import { withoutCleanup, withoutPdf, withTwoMessages } from './changed-targets.ts'
import { companyIn, deal, isOfStates } from './deals.ts'

/** One broken server of the kill matrix. */
export interface BrokenServer {
  /** How its test is called: its first switch, and how many more there are. */
  readonly name: string
  readonly defects: readonly string[]
  readonly variants: readonly string[]
  /** Changes the reference's own target file. */
  readonly change: (file: TargetFile) => TargetFile
}

/** What a switch needs of the target file. */
function changeFor(switches: readonly string[], removed: boolean): (file: TargetFile) => TargetFile {
  const changes = [withoutCleanup]
  if (removed) changes.push(withoutPdf)
  if (switches.some((name) => name.endsWith('#takes-earlier'))) changes.push(withTwoMessages)
  return (file) => changes.reduce((changed, change) => change(changed), file)
}

/** The server that has these switches on. */
export function brokenServer(switches: readonly string[], way = ''): BrokenServer {
  const removed = switches.some((name) => ownId(name) === 'pdf.parse/4xx-removed')
  const [first = '', ...more] = switches
  return {
    name: [way, first, more.length === 0 ? '' : `and ${more.length} more`].filter((word) => word !== '').join(' '),
    defects: switches,
    variants: removed ? ['pdf-removed'] : [],
    change: changeFor(switches, removed),
  }
}

const onSockets = defects.filter(needsSocket)
const inProcess = defects.filter((defect) => !needsSocket(defect))
const first = deal(inProcess, 'first')
/** A switch about the states of jobs is the only one of its operations in its server: one of them tells enough. */
const second = deal(
  inProcess.filter((defect) => !isOfStates(ownId(defect))),
  'second',
  companyIn(first),
)

/** Those whose switches show on a socket alone: they take real time, most of which is waiting. */
export const serversOnSockets: readonly BrokenServer[] = deal(onSockets, 'first').map((hand) =>
  brokenServer(hand, 'on a socket:'),
)

/**
 * The servers of the kill matrix that are judged in this process. Each switch is on in two of them, in other company: one that turns a wrong
 * requirement red, or that goes unseen behind another, shows in one of the two.
 */
export const brokenServers: readonly BrokenServer[] = [
  ...first.map((hand) => brokenServer(hand, 'first way:')),
  ...second.map((hand) => brokenServer(hand, 'second way:')),
]

/** Test files that share the matrix. */
export const parts = 4

/** The servers of one part, dealt by a hash: their costs are spread, and a new switch moves no other. */
export function serversOf(part: number): readonly BrokenServer[] {
  return brokenServers.filter(({ name }) => createHash('sha256').update(name).digest().readUInt32BE() % parts === part)
}
