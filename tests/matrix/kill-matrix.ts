import { describe, expect, test } from 'vitest'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import { needsSocket, stampHeader } from '../../reference/server.ts'
import { judgeReference, idsOf } from './judge-reference.ts'
import { ownId, redUnder, surelyRedUnder } from './also-red.ts'
import { isOfStates } from './assign.ts'
import { type BrokenServer, needsOtherCohort, serversOf } from './servers.ts'

/** ms of jobs, and ms that a run waits for one: in virtual time nobody waits for them. */
const pace = { jobMs: 15, slowJobMs: 1200 }
const limits = { jobTimeoutMs: 4000 }
/** On sockets somebody does. Jobs last until they are read, on a busy machine too. */
const paceOnSockets = { jobMs: 15, slowJobMs: 300 }

/** Most evidence shown of one server. */
const linesShown = 12

function evidence(results: readonly RequirementResult[], ids: readonly string[]): string[] {
  return results
    .filter(({ id }) => ids.includes(id))
    .flatMap(({ id, outcome, reason, failures }) => [
      `  ${id}: ${outcome}${reason === undefined ? '' : `, ${reason}`}`,
      ...failures
        .slice(0, 1)
        .map(({ message, expected, actual }) => `    ${message} | ${expected} | ${actual}`),
    ])
}

/** Switches that had a say in the answers that a failed requirement shows. */
function stampsOf(results: readonly RequirementResult[], id: string): readonly string[] {
  const failures = results.find((result) => result.id === id)?.failures ?? []
  return failures
    .flatMap(({ exchange }) => (exchange?.response?.headers[stampHeader] ?? '').split(', '))
    .filter(Boolean)
}

/** Whether nothing but the red of its requirement tells of it: no stamp, and no other of its operation beside it. */
function isAlone(defect: string): boolean {
  // Whatever breaks down on bad input turns it red: which of them its evidence shows is a matter of order.
  if (ownId(defect) === 'envelope/bad-input-no-5xx') return true
  // It shows by the answer to a later request, of another operation.
  if (ownId(defect) === 'files.upload/2xx-attached-to-graph') return true
  return needsSocket(defect) || needsOtherCohort(defect) || isOfStates(ownId(defect))
}

/** Failures that other switches of the server caused, or that nothing shows to be of theirs. */
function misattributed({ defects }: BrokenServer, results: readonly RequirementResult[]): string[] {
  const failed = idsOf(results, 'failed')
  return defects.flatMap((defect) => {
    if (isAlone(defect)) return []
    const own = ownId(defect)
    const stamps = stampsOf(results, own)
    return !failed.includes(own) || stamps.includes(defect)
      ? []
      : [`${own} bears ${stamps.join(', ') || 'no stamp'}`]
  })
}

const isSpoiling = (defect: string): boolean => defect.endsWith('#spoils-connection')

/** Which switch went unseen, what else turned red, and the first lines of evidence; empty where all is as listed. */
export function difference(server: BrokenServer, results: readonly RequirementResult[]): string {
  const failed = idsOf(results, 'failed')
  const listed = new Set(server.defects.flatMap(redUnder))
  // Which request comes next on a spoiled connection is a matter of time: `engine/reused-connection` has each of these turn red, one request at a time.
  const certain = server.defects.filter((defect) => !isSpoiling(defect)).flatMap(surelyRedUnder)
  const missing = [...new Set(certain)].filter((id) => !failed.includes(id))
  const extra = failed.filter((id) => !listed.has(id))
  const others = misattributed(server, results)
  if (missing.length === 0 && extra.length === 0 && others.length === 0) return ''
  const unseen = server.defects.filter((defect) => missing.includes(ownId(defect)))
  return [
    `the matrix does not hold for ${server.name}`,
    `missing: ${missing.join(', ') || 'none'}${unseen.length > 0 ? ` (switches ${unseen.join(', ')})` : ''}`,
    `extra: ${extra.join(', ') || 'none'}`,
    ...others,
    ...evidence(results, [...missing, ...extra]).slice(0, linesShown),
  ].join('\n')
}

/** The judgement on a broken server. */
export async function judgeBroken({
  defects,
  variants,
  only,
  depth = 'full',
  change,
}: BrokenServer): Promise<readonly RequirementResult[]> {
  const isOnSocket = defects.some(needsSocket)
  const paced = isOnSocket ? paceOnSockets : pace
  const settings = {
    ...(isOnSocket ? {} : { limits, isStamped: true }),
    change,
    options: { only, depth },
  }
  return (await judgeReference({ ...paced, defects, variants }, settings)).results
}

/** The tests of one part of the matrix: each server turns exactly the listed requirements red. */
export function killMatrix(part: number): void {
  describe('turns exactly the listed requirements red', () => {
    test.each(serversOf(part))('$name', expectListed)
  })
}

/** The server turns exactly the listed requirements red. */
export async function expectListed(server: BrokenServer): Promise<void> {
  expect(difference(server, await judgeBroken(server))).toBe('')
}
