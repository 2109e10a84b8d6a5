import type { Report } from '../../harness/report/model.ts'
import { runNotes } from '../view/run-notes.ts'

/** What a reader of one test suite must know of the run, by name. */
export function properties(report: Report): [name: string, value: string][] {
  const { exit, run, suite, target, verdict, verdicts } = report
  return [
    ['target', target.name],
    ['baseUrl', target.baseUrl],
    ['verdict', verdict],
    ['verdict.exact', verdicts.exact],
    ['verdict.family', verdicts.family],
    ['exit', `${exit.code}: ${exit.because}`],
    ['seed', String(run.seed)],
    ['suite', `${suite.name} ${suite.version}`],
    ['requirementsDigest', suite.requirementsDigest],
    ...(run.shard === null ? [] : ([['shard', run.shard]] as [string, string][])),
    ...runNotes(report).map((note): [string, string] => ['note', note]),
  ]
}
