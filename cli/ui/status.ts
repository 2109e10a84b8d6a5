import { count } from '../../harness/report/count.ts'
import type { Report } from '../../harness/report/model.ts'
import { duration } from '../../reporters/view/duration.ts'
import { verdictSentence } from '../../reporters/view/verdict-sentence.ts'
import type { Begun, Ended } from '../session/session.ts'
import type { Board } from './board.ts'

/** What goes on, in words: what is seen, and what a screen reader says when it changes. */
export interface Status {
  readonly text: string
  /** Said once; how far a run is, is not. */
  readonly said: string
  readonly progress?: { readonly judged: number; readonly of: number }
}

export function begunStatus({ selection, why }: Begun): Status {
  const what = selection === 'all' ? 'Everything' : selection === 'failed' ? 'What failed' : selection.join(', ')
  const text = `${what} is being judged: ${why}`
  return { text, said: text }
}

/** How far the run is; what was said at its beginning stays said. */
export function progressStatus({ said }: Status, { planned, rows }: Board): Status {
  const left = [...rows.values()].filter(({ isWaiting }) => isWaiting).length
  const judged = Math.max(planned - left, 0)
  return { text: `${judged} of ${count(planned, 'requirement')} judged`, said, progress: { judged, of: planned } }
}

export function endedStatus({ report, selection, changes }: Ended, now = new Date()): Status {
  const at = now.toTimeString().slice(0, 8)
  const took = `${count(report.run.requests, 'request')} in ${duration(report.run.durationMs)}`
  const news = changes ? `; ${changes.newlyFailed.length} newly failed, ${changes.newlyPassed.length} newly passed` : ''
  const result = selection === 'all' ? verdictSentence(report) : partSentence(report)
  return { text: `Ended at ${at}: ${took}${news}`, said: `The run has ended. ${result}${news}` }
}

function partSentence({ requirements }: Report): string {
  const number = (outcome: string): number => requirements.filter((result) => result.outcome === outcome).length
  return `${number('failed')} failed, ${number('passed')} passed`
}

export const sentenceStatus = (sentence: string): Status => ({ text: sentence, said: sentence })
