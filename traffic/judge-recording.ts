import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Redactor } from '../harness/recording/redactor.ts'
import type { RecordedExchange } from '../harness/report/model.ts'
import type { Target } from '../harness/target/model.ts'
import type { Har } from './read-har.ts'
import { recordEntry } from './recorded-exchange.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { createRecordingJudge, type Judged, type Seen } from './recording-judge.ts'

export interface JudgedRecording extends Seen {
  /** The judged exchanges as reports hold them. */
  exchanges(): Iterable<RecordedExchange>
}

/** Bytes of bodies after which the event loop turns: what a weak reference was asked for lives until then. */
const mostKept = 16 * 1024 * 1024

/** Judges a HAR. */
export async function judgeRecording(har: Har, target: Target, redactor: Redactor): Promise<JudgedRecording> {
  const judge = createRecordingJudge({ target, redactor, again: (index) => har.entry(index) })
  const judged: number[] = []
  const kinds: Judged[] = []
  let kept = 0
  for (const index of har.inTime) {
    const entry = har.entry(index)
    const kind = judge.see(entry)
    kept += entry.body.bytes.length
    if (kept > mostKept) {
      await nextTurn()
      kept = 0
    }
    if (!kind) continue
    judged.push(index)
    kinds.push(kind)
  }
  return {
    ...judge.end(),
    *exchanges() {
      for (const [n, index] of judged.entries()) yield recordedExchange(n, har.entry(index), kinds[n], redactor)
    },
  }
}

/** An entry as a line of an exchange log has it. @param kind undefined if it was not judged */
export function recordedExchange(
  n: number,
  entry: RecordedEntry,
  kind: Judged | undefined,
  redactor: Redactor,
): RecordedExchange {
  return {
    n,
    ...{ requirement: kind?.requirement ?? null, operation: kind?.operation ?? null, role: 'probe' },
    startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
    durationMs: entry.durationMs,
    httpVersion: entry.httpVersion,
    ...recordEntry(entry, redactor),
  }
}
