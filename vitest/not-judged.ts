import { isMistake } from '../harness/report/mistake.ts'
import { verdictSentence } from '../reporters/view/verdict-sentence.ts'
import type { Ended } from './suite-run.ts'

/**
 * Why the run as a whole is no success although each of its tests may only be skipped: the target was lost, its key is refused,
 * the suite itself went wrong, nothing could be judged. A run that vitest was told to stop, or of a few tests, is none of these.
 */
export function whyNotJudged({ facts, report }: Ended, all: boolean): string | undefined {
  const { ended, keyRefused = false } = facts ?? {}
  if (ended?.cause === 'interrupted') return undefined
  if (ended && ended.cause !== 'bail') return `the target could not be judged to the end: ${ended.reason}`
  if (keyRefused) return 'the key is not accepted: every request with it was answered 401'
  const mistakes = report.requirements.filter(isMistake)
  if (mistakes.length > 0) {
    const ids = mistakes.map(({ id }) => id).join(', ')
    return `the suite itself went wrong, please report it with seed ${report.run.seed}: ${ids}`
  }
  return all && report.verdict === 'not-judged' ? verdictSentence(report) : undefined
}
