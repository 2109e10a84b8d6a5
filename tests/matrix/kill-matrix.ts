import { describe, expect, test } from 'vitest'
import type { RequirementResult } from '../../harness/report/model.ts'
import { needsSocket } from '../../reference/server.ts'
import { judgeReference, idsOf } from './judge-reference.ts'
import { ownId, redUnder } from './also-red.ts'
import { type BrokenServer, serversOf } from './servers.ts'

/** ms of jobs, and ms that a run waits for one: in virtual time nobody waits for them. */
const pace = { jobMs: 15, slowJobMs: 1200 }
/** On sockets somebody does: jobs last for the requests beside them, on a busy machine too. */
const paceOnSockets = { jobMs: 15, slowJobMs: 1800 }
const limits = { jobTimeoutMs: 4000 }

/** Most evidence shown of one server. */
const linesShown = 12

function evidence(results: readonly RequirementResult[], ids: readonly string[]): string[] {
  return results
    .filter(({ id }) => ids.includes(id))
    .flatMap(({ id, outcome, reason, failures }) => [
      `  ${id}: ${outcome}${reason === undefined ? '' : `, ${reason}`}`,
      ...failures.slice(0, 1).map(({ message, expected, actual }) => `    ${message} | ${expected} | ${actual}`),
    ])
}

/** Which switch went unseen, what else turned red, and the first lines of evidence; empty where all is as listed. */
export function difference(server: BrokenServer, results: readonly RequirementResult[]): string {
  const failed = idsOf(results, 'failed')
  const listed = new Set(server.defects.flatMap(redUnder))
  const missing = [...listed].filter((id) => !failed.includes(id))
  const extra = failed.filter((id) => !listed.has(id))
  if (missing.length === 0 && extra.length === 0) return ''
  const unseen = server.defects.filter((defect) => missing.includes(ownId(defect)))
  return [
    `the matrix does not hold for ${server.name}`,
    `missing: ${missing.join(', ') || 'none'}${unseen.length > 0 ? ` (switches ${unseen.join(', ')})` : ''}`,
    `extra: ${extra.join(', ') || 'none'}`,
    ...evidence(results, [...missing, ...extra]).slice(0, linesShown),
  ].join('\n')
}

/** What a broken server is judged to be. */
export async function judgeBroken({
  defects,
  variants,
  only,
  change,
}: BrokenServer): Promise<readonly RequirementResult[]> {
  const paced = defects.some(needsSocket) ? paceOnSockets : pace
  return (await judgeReference({ ...paced, defects, variants }, { limits, change, options: { only } })).results
}

/** The tests of one part of the matrix: each server turns exactly the listed requirements red. */
export function killMatrix(part: number): void {
  describe('turns exactly the listed requirements red', { timeout: 120_000 }, () => {
    test.each(serversOf(part))('$name', expectListed)
  })
}

/** The server turns exactly the listed requirements red. */
export async function expectListed(server: BrokenServer): Promise<void> {
  expect(difference(server, await judgeBroken(server))).toBe('')
}
