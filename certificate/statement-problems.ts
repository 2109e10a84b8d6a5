import { isDeepStrictEqual } from 'node:util'
import { operations as interfaceOperations } from '../catalogue/operations.ts'
import type { Counts } from '../harness/report/model.ts'
import { sum, total } from '../reporters/view/counts.ts'
import { validatorOf } from '../schemas/validators.ts'
import { lastDay, partialReasons } from './make-statement.ts'
import type { Operations, Predicate, Statement } from './statement.ts'
import { claimedByStatement, requirementsIn, type SuiteFacts } from './suite-facts.ts'

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
    [isPlainAddress(subject[0].uri), 'the address of its target is not written as conform writes it'],
    [both.passed + both.failed === 0 || run.requests > 0, 'it judged without a request'],
    [isDistinct(predicate), 'a requirement or an operation is in it twice'],
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

/** As a run writes a base URL: nothing in it can be taken for another host. */
function isPlainAddress(uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, username, password, search, hash, href } = new URL(uri)
  const isBare = `${username}${password}${search}${hash}` === '' && !/[?#]/.test(uri)
  return isBare && /^https?:$/.test(protocol) && href.replace(/\/+$/, '') === uri
}

function isDistinct({ coverage, failed, notApplicable, notExercised }: Predicate): boolean {
  const ids = [...failed, ...[...notApplicable, ...notExercised].map(({ id }) => id)]
  const operations = coverage.map(({ operation }) => operation)
  return [ids, operations].every((names) => new Set(names).size === names.length)
}

/** Where a statement that names this version's requirements does not count each of them once, as what it is. */
export function setProblems({ predicate }: Statement, own: SuiteFacts): string[] {
  const { coverage, failed, notApplicable, notExercised, summary } = predicate
  if (claimedByStatement(predicate).requirementsDigest !== own.requirementsDigest) return []
  const rows = requirementsIn(own.requirementsText) ?? []
  const known = new Set<string>(rows.map(({ id }) => id))
  const numberOf = (isOne: (row: (typeof rows)[number]) => boolean) => rows.filter(isOne).length
  const strange = [...failed, ...[...notApplicable, ...notExercised].map(({ id }) => id)].filter((id) => !known.has(id))
  const isWhole =
    (['must', 'should'] as const).every((level) => total(summary[level]) === numberOf((row) => row.level === level)) &&
    coverage.every((of) => total(of) === numberOf(({ operation }) => operation === of.operation))
  return [
    ...(isWhole ? [] : ['it does not count the requirements that its digest names']),
    ...strange.map((id) => `${id} is not one of the requirements that its digest names`),
  ]
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
