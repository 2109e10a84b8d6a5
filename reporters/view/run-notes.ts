import type { Report } from '../../spec/report.ts'
import { count } from './counts.ts'
import { familySentence } from './family-names.ts'

/** What a reader must know to weigh the verdict, a sentence each; none where nothing is out of the ordinary. */
export function runNotes(report: Report): string[] {
  const { run } = report
  const notes = [
    run.interrupted && 'interrupted: the run ended early, and what it had learned by then was judged',
    run.insecure && 'insecure: the certificate of the target was not verified (--insecure)',
    run.readOnly && 'read only: nothing was sent that creates or generates something (--read-only)',
    run.shard !== null && `shard ${run.shard}: one part of the requirements; conform merge joins the parts`,
    familySentence(report),
    run.throttled > 0 && `throttled: ${count(run.throttled, 'answer')} asked to slow down (429, 503)`,
  ]
  return notes.filter((note) => typeof note === 'string')
}

/** How to repeat the run. */
export function seedLine(report: Report): string {
  return `seed ${report.run.seed}: repeat with --seed ${report.run.seed}`
}
