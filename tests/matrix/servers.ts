import { createHash } from 'node:crypto'
import type { TargetFile } from '../../harness/target/model.ts'
import { defects } from '../../reference/server.ts'
import { ownId } from './also-red.ts'
import { batches, isOfStates } from './batches.ts'
import { withoutCleanup, withoutPdf, withTwoMessages } from './changed-targets.ts'

/** One broken server of the kill matrix. */
export interface BrokenServer {
  /** How its test is called: the switch, or the batch and its first one. */
  readonly name: string
  readonly defects: readonly string[]
  readonly variants: readonly string[]
  /** A switch of it shows while a job is in progress, so that this has to last on a busy machine too. */
  readonly showsStates: boolean
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

function server(name: string, switches: readonly string[]): BrokenServer {
  const removed = switches.some((name) => ownId(name) === 'pdf.parse/4xx-removed')
  return {
    name,
    defects: switches,
    variants: removed ? ['pdf-removed'] : [],
    showsStates: switches.some((name) => isOfStates(ownId(name))),
    change: changeFor(switches, removed),
  }
}

/** A server for each main switch by itself, and for each batch of the further ones. */
export const brokenServers: readonly BrokenServer[] = [
  ...defects.filter((defect) => !defect.includes('#')).map((defect) => server(defect, [defect])),
  ...batches(defects.filter((defect) => defect.includes('#'))).map((batch, at) =>
    server(batch.length === 1 ? String(batch[0]) : `batch ${at}: ${batch[0]} and ${batch.length - 1} more`, batch),
  ),
]

/** Test files that share the matrix. */
export const parts = 4

/** The servers of one part, dealt by a hash: their costs are spread, and a new switch moves no other. */
export function serversOf(part: number): readonly BrokenServer[] {
  return brokenServers.filter(({ name }) => createHash('sha256').update(name).digest().readUInt32BE() % parts === part)
}
