import { isDeepStrictEqual } from 'node:util'
import { operations as interfaceOperations } from '../catalogue/operations.ts'
import type { Counts } from '../harness/report/model.ts'
import { sum, total } from '../reporters/view/counts.ts'
import { validatorOf } from '../schemas/validators.ts'
import { partialReasons } from './partial.ts'
import type { Operations, Predicate, Statement } from './statement.ts'
import { lastDay } from './validity.ts'

/** Null if it has the form of a certificate's statement; otherwise the place where it differs. */
export function formProblem(value: unknown): string | null {
  const validate = validatorOf('certificate')
  if (validate(value)) return null
  const [error] = validate.errors ?? []
  return `its statement is not a certificate: ${error?.instancePath || '/'} ${error?.message}`
}

const none: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }

/** Where a statement of the right form contradicts itself. */
export function contradictions({ subject, predicate }: Statement): string[] {
  const { summary, coverage, verdict, verdicts, run, partial, expiresAt, issuedAt } = predicate
  const both = sum(summary.must, summary.should)
  const unsaid = partialReasons(predicate).filter((reason) => !partial.includes(reason))
  const holds: [boolean, string][] = [
    [isDeepStrictEqual(subject[0].digest, predicate.targetFile.digest), 'the digests of the target differ'],
    [verdict === verdicts[run.tpe], `verdict is ${verdict}, but verdicts.${run.tpe} is ${verdicts[run.tpe]}`],
    [verdict !== 'conformant' || summary.must.failed === 0, 'conformant, with must requirements failed'],
    [verdict !== 'conformant' || summary.must.notExercised === 0, 'conformant, with must requirements not exercised'],
    [verdicts.exact !== 'conformant' || verdicts.family === 'conformant', 'conformant by exact names only'],
    [isDeepStrictEqual(coverage.reduce(sum, none), both), 'coverage and summary differ'],
    [total(both) === predicate.requirements.count, 'the summary does not count all requirements'],
    [both.failed === predicate.failed.length, 'the failed requirements are not those counted'],
    [both.notExercised === predicate.notExercised.length, 'those not exercised are not those counted'],
    [both.notApplicable === predicate.notApplicable.length, 'those not applicable are not those counted'],
    [issuedAt < expiresAt, 'it ends before it begins'],
    [Date.parse(expiresAt) <= lastDay(predicate), 'it is valid for longer than a certificate may be'],
    ...operationProblems(predicate).map((problem): [boolean, string] => [false, problem]),
    ...unsaid.map((reason): [boolean, string] => [false, `it does not say that it is partial: ${reason}`]),
  ]
  return holds.flatMap(([holding, problem]) => (holding ? [] : [`it contradicts itself: ${problem}`]))
}

/** Each operation of the interface is in one of the lists, and those judged are the ones of which something was. */
function operationProblems({ operations, coverage }: Predicate): string[] {
  const wanted: string[] = interfaceOperations.map(({ id }) => id)
  const named = namesOf(operations)
  const isJudged = (id: string) =>
    coverage.some(({ operation, passed, failed }) => operation === id && passed + failed > 0)
  const unserved = operations.notServed.map(({ operation }) => operation)
  const wrong = [
    ...operations.judged.filter((id) => !isJudged(id)),
    ...[...unserved, ...operations.notExercised].filter(isJudged),
  ]
  return [
    ...(isDeepStrictEqual([...named].sort(), wanted.sort()) ? [] : ['it does not name each operation once']),
    ...wrong.map((id) => `${id} is not where its counts put it`),
  ]
}

function namesOf({ judged, notServed, removed, notExercised }: Operations): string[] {
  return [...judged, ...notServed.map(({ operation }) => operation), ...removed, ...notExercised]
}
