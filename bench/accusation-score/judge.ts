import type { RequirementResult } from '../../harness/report/model.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { withoutCleanup, withoutPdf } from '../../tests/matrix/changed-targets.ts'
import { judgeOnSocket, judgeReference, type JudgeSettings } from '../../tests/matrix/judge-reference.ts'
import type { Draw } from './draw.ts'
import { road } from './road.ts'

/** A requirement that a conforming server does not fulfil, says the suite. */
export interface Accusation {
  readonly id: string
  readonly why: string
}

/** ms: jobs last until they can be read, and for the requests beside them. */
const pace = { jobMs: 15, slowJobMs: 1800 }

/** Judges the reference as it was drawn; tells what it is accused of, and mistakes of the suite. */
export async function accusationsOf(draw: Draw): Promise<Accusation[]> {
  const { variants, seed } = draw
  const removed = variants.some((variant) => variant.startsWith('pdf-removed'))
  const settings: JudgeSettings = {
    options: { seed, nonce: `s${seed}`.slice(0, 8), refusalRuns: 5, grantedRuns: 2 },
    change: (file: TargetFile) => (removed ? withoutPdf(withoutCleanup(file)) : withoutCleanup(file)),
  }
  const { results } = draw.onSocket
    ? await judgeOnSocket({ variants, latency: draw.latencyMs, ...pace }, settings)
    : await judgeReference({ variants, ...pace }, { ...settings, road: (transport) => road(transport, draw) })
  return results.flatMap(accusation)
}

function accusation({ id, outcome, reason = '', failures: [first] }: RequirementResult): Accusation[] {
  if (outcome === 'failed') return [{ id, why: `${first?.message}; expected ${first?.expected}; ${first?.actual}` }]
  return reason.startsWith('a mistake of the suite') ? [{ id, why: reason }] : []
}
