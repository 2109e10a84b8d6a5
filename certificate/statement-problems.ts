import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Counts } from '../harness/report/model.ts'
import type { Statement } from './statement.ts'

const schema = JSON.parse(readFileSync(new URL('./certificate.schema.json', import.meta.url), 'utf8')) as object
const validate = new Ajv2020().compile<Statement>(schema)

/** Whether it has the form of a certificate's statement; else where it has not. */
export function formProblem(value: unknown): string | null {
  if (validate(value)) return null
  const [error] = validate.errors ?? []
  return `its statement is no certificate: ${error?.instancePath || '/'} ${error?.message}`
}

/** Where a statement of the right form contradicts itself. */
export function contradictions({ subject, predicate }: Statement): string[] {
  const { summary, coverage, verdict, verdicts, run } = predicate
  const both = add([summary.must, summary.should])
  const holds: [boolean, string][] = [
    [isDeepStrictEqual(subject[0].digest, predicate.targetFile.digest), 'the digests of the target differ'],
    [verdict === verdicts[run.tpe], `verdict is ${verdict}, but verdicts.${run.tpe} is ${verdicts[run.tpe]}`],
    [verdict !== 'conformant' || summary.must.failed === 0, 'conformant, with must requirements failed'],
    [verdict !== 'conformant' || summary.must.notExercised === 0, 'conformant, with must requirements not exercised'],
    [verdict === 'conformant' || predicate.partial.length > 0, `${verdict}, but not partial`],
    [isDeepStrictEqual(add(coverage), both), 'coverage and summary differ'],
    [total(both) === predicate.requirements.count, 'the summary does not count all requirements'],
    [both.failed === predicate.failed.length, 'the failed requirements are not those counted'],
    [both.notExercised === predicate.notExercised.length, 'those not exercised are not those counted'],
    [both.notApplicable === predicate.notApplicable.length, 'those not applicable are not those counted'],
    [predicate.issuedAt < predicate.expiresAt, 'it ends before it begins'],
  ]
  return holds.flatMap(([holding, problem]) => (holding ? [] : [`it contradicts itself: ${problem}`]))
}

function add(counts: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((so, count) => so + count[name], 0)
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    notExercised: sum('notExercised'),
    notApplicable: sum('notApplicable'),
  }
}

function total({ passed, failed, notExercised, notApplicable }: Counts): number {
  return passed + failed + notExercised + notApplicable
}
