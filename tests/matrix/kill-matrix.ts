import { expect, test } from 'vitest'
import { observedRequirements } from '../../suites/checks/observed.ts'
import type { RunOptions } from '../../harness/client/state.ts'
import { defects, needsSocket } from '../../reference/server.ts'
import { refusals } from '../../reference/switches.ts'
import { ownId, redUnder } from './also-red.ts'
import { fitting } from './changed-targets.ts'
import { isOfStates } from './every-case.ts'
import { idsOf, judgeReference, reasons } from './judge-reference.ts'

/** Switches, each judged by itself. The others grant a refusal, as `every-case` does to each of its cases. */
export const switches: readonly string[] = defects.filter(
  (defect) => !refusals.includes(defect) || isOfStates(defect),
)

/** In virtual time nobody waits for jobs. */
const pace = { jobMs: 15, slowJobMs: 1200 }
const limits = { jobTimeoutMs: 4000 }
/** On sockets somebody does. Jobs last until they are read, on a busy machine too. */
const paceOnSockets = { jobMs: 15, slowJobMs: 300 }

/** What the switch can reach: all of its area, as `jobs`, and what any response shows; on sockets, where time is real, its operation. */
export function reachOf(defect: string): string[] {
  const part = needsSocket(defect) ? /^[^/]+\// : /^[a-z-]+/
  const areas = redUnder(defect).map((id) => `${part.exec(id)![0]}*`)
  return [...new Set([...areas, ...observedRequirements])]
}

async function judgeBroken(defect: string, options: Partial<RunOptions>) {
  const variants = ownId(defect) === 'pdf.parse/4xx-removed' ? ['pdf-removed'] : []
  const isOnSocket = needsSocket(defect)
  const reference = {
    ...(isOnSocket ? paceOnSockets : pace),
    defects: [defect],
    variants,
  }
  const { results } = await judgeReference(reference, {
    ...(isOnSocket ? {} : { limits }),
    change: fitting(variants),
    options,
  })
  return results
}

/** The switch turns its requirement red, and others only if they are listed. */
export async function expectListed(defect: string, options: Partial<RunOptions> = {}) {
  const results = await judgeBroken(defect, options)
  const failed = idsOf(results, 'failed')
  const extra = failed.filter((id) => !redUnder(defect).includes(id))
  const told = reasons(results.filter(({ id }) => [ownId(defect), ...extra].includes(id)))
  const rows = extra.map((id) => `\n${defect} | ${id}`)
  if (extra.length > 0) rows.unshift('\nRows for also-red.ts, if explained:')
  const found = { hasFailed: failed.includes(ownId(defect)), extra }
  const message = `the reference with ${defect}\n${told}${rows.join('')}\n`
  expect(found, message).toEqual({ hasFailed: true, extra: [] })
}

/** The tests of one half of the switches: files run beside each other. */
export function killMatrix(half: 0 | 1): void {
  const inProcess = switches.filter((defect) => !needsSocket(defect))
  test.each(inProcess.filter((_, at) => at % 2 === half))(
    '%s fails its requirement, and what is listed with it, and nothing else',
    (defect) => expectListed(defect, { only: reachOf(defect) }),
  )
}
