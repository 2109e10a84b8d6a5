import { operations as allOperations } from '../../catalogue/operations.ts'
import { conditionOf } from '../../catalogue/requirement.ts'
import type { Failure, HttpResponse } from '../../harness/report/index.ts'
import type { Report, RequirementResult } from '../../harness/report/index.ts'
import { isSame, responseOf, sayAnswers } from '../../harness/report/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import { shortened } from '../escape.ts'
import { absentOperations } from './operation-map.ts'
import { capital, firstOf } from './writing.ts'
import { clue, clueOf, type Clue, expectedOf, isGranting, statusesOf } from './clues.ts'

/** Failures and their known causes, required checks first, in report order. */
export function failuresOf(report: Report) {
  const { requirements, run } = report
  const known = new Set(run.baseline?.expected)
  const failed = requirements.filter(({ outcome }) => outcome === 'failed')
  const ranked = (['must', 'should'] as const).flatMap((wanted) =>
    failed.filter(({ level }) => level === wanted),
  )
  const unexpected = ranked.filter(({ id }) => !known.has(id))
  const likely = likelyCauses(unexpected, report)
  const explained = new Set(likely.flatMap(({ results }) => results))
  const unexplained = unexpected.filter((result) => !explained.has(result))
  return {
    unexpected,
    expected: ranked.filter(({ id }) => known.has(id)),
    causes: byCause(unexpected),
    likely,
    unexplained,
    distinct: [
      ...likely.map((cause) => ({
        cause,
        results: cause.results,
        example: simplest(cause.results),
      })),
      ...byCause(unexplained).map(({ first, others }): Distinct => {
        return { results: [first, ...others], example: first }
      }),
    ].toSorted((one, other) => rankOf(one) - rankOf(other)),
  }
}

export interface Distinct {
  readonly cause?: LikelyCause
  readonly results: readonly RequirementResult[]
  readonly example: RequirementResult
}

function rankOf({ results }: Distinct): number {
  return results.some(({ level }) => level === 'must') ? 0 : 1
}

function simplest(results: readonly RequirementResult[]): RequirementResult {
  const sizeOf = ({ failures: [first] }: RequirementResult): number => {
    const request = first?.exchange?.request
    return request === undefined ? Infinity : (request.bodyLength ?? request.body.length)
  }
  const required = results.filter(({ level }) => level === 'must')
  const [first] = (required.length > 0 ? required : results).toSorted(
    (one, other) => sizeOf(one) - sizeOf(other) || 0,
  )
  return first!
}

/** Failures with one cause, as far as visible from outside; the first represents all. */
export interface Cause {
  readonly first: RequirementResult
  readonly others: readonly RequirementResult[]
}

/**
 * Groups failures of several operations with the same level, expectation and error, and all failures of reused connections.
 * The groups keep the order of their first members.
 */
export function byCause(results: readonly RequirementResult[]): Cause[] {
  return [...groupBy(results, keyOf).values()].flatMap((group): Cause[] => {
    const first = simplest(group)
    const others = group.filter((one) => one !== first)
    const { connection, noEnvelope }: Partial<Failure> = group[0]!.failures[0] ?? {}
    const isOfServer = connection !== undefined || noEnvelope === true
    const isOne = isOfServer || new Set(group.map(({ operation }) => operation)).size > 1
    return isOne ? [{ first, others }] : group.map((one) => ({ first: one, others: [] }))
  })
}

function keyOf({ failures: [failure], id, level }: RequirementResult): string {
  if (!failure) return id
  // The handling of connections is one cause, whatever the requests.
  if (failure.connection) return failure.connection
  // Errors without envelope are one cause: a missing error handler.
  if (failure.noEnvelope) return `no envelope: ${level}`
  // Sections differ by operation, but not the expectation.
  const expected = failure.expected.slice(0, failure.expected.length - (failure.cites ?? '').length)
  return JSON.stringify([level, expected, ...receivedIn(failure, id), failure.onlyName])
}

/**
 * An answer with a `tpe` is identified by it, not by its message. Other bodies differ by operation, so a wrong status
 * is identified with the condition (`400-malformed-json`).
 */
function receivedIn(failure: Failure, id: string): string[] {
  const response = responseOf(failure)
  const { status, tpe } = response
  if (tpe !== undefined) return [sayAnswers([response])]
  if (status !== null && status < 300 && failure.toRefuse) return ['granted', conditionOf(id)]
  return status !== null && status >= 400 ? [`${status}`, conditionOf(id)] : [failure.actual]
}

export function idsOf({ first, others }: Cause): string[] {
  return [first, ...others].map(({ id }) => id)
}

/** Failures that one change would most likely fix. Texts may contain text of the target. */
export interface LikelyCause {
  readonly what: string
  readonly title: string
  /** The fix; a full stop is added in a sentence. */
  readonly change: string
  readonly sentence: string
  readonly results: readonly RequirementResult[]
  readonly isAbsent?: true
  readonly isEverything?: true
}

const FEWEST = 3
const MOST = 6

interface Learned {
  readonly run: Pick<Report['run'], 'absent' | 'statuses'>
  readonly requirements: readonly RequirementResult[]
}

/** Finds common causes of failures, the most frequent first, and flaky answers before all; ignores single failures. */
export function likelyCauses(
  failed: readonly RequirementResult[],
  learned: Learned = { run: {}, requirements: [] },
): LikelyCause[] {
  if (failed.length === 0) return []
  const byChance = failed.filter(({ failures: [first] }) => first?.takes === 'chance')
  const chance = byChance.length >= FEWEST ? byChance : []
  const absent = absentOperations(learned)
  const lasting = failed.filter((result) => !chance.includes(result))
  const present = lasting.filter(({ operation }) => !absent.has(operation))
  const alike = oneAnswer(present, learned)
  const clues = present.flatMap((result) => {
    const found = alike?.results.has(result) ? alike.clue : clueOf(result)
    return found === undefined ? [] : [{ ...found, result }]
  })
  const causes = [...groupBy(clues, ({ key }) => key).values()]
    .map((group) => {
      const results = group.map(({ result }) => result)
      return { ...group[0]!.say(results), results }
    })
    .filter(({ isTold, results: { length } }) => length >= FEWEST || isTold)
    .sort((a, b) => b.results.length - a.results.length)
  const missing = lasting.filter((result) => !present.includes(result))
  const operations = firstOf([...new Set(missing.map(({ operation }) => operation))], 3)
  return [
    ...(chance.length > 0 ? [causeOf(differing, chance)] : []),
    ...(missing.length > 0
      ? [{ ...causeOf(notBuilt(operations), missing), isAbsent: true as const }]
      : []),
    ...causes.map(({ change, isName, results, what }) => ({
      ...causeOf({ change, what: shortened(what, 300) }, results, isName),
      ...(alike !== undefined &&
        results.every((one) => alike.results.has(one)) && { isEverything: true as const }),
    })),
  ].slice(0, MOST)
}

const notBuilt = (operations: readonly string[]) => ({
  what: `not built: ${operations.join(', ')}`,
  change: 'build them, or declare them not-served in the target file',
})

function causeOf(
  { change, what }: Pick<LikelyCause, 'what' | 'change'>,
  results: readonly RequirementResult[],
  isName = false,
): LikelyCause {
  const title = isName ? what : capital(what)
  return { what, title, change, sentence: `${capital(change)}.`, results }
}

const nearly = 0.75

function oneAnswer(results: readonly RequirementResult[], { requirements, run }: Learned) {
  const answered = results.flatMap((result) => {
    const [failure] = result.failures
    return failure === undefined ? [] : [{ result, response: responseOf(failure) }]
  })
  for (const { response } of answered.slice(0, 20)) {
    const { status } = response
    if (status === null) continue
    const same = answered
      .filter((other) => isSame(other.response, response))
      .map(({ result }) => result)
    const expected = new Set(same.map(({ id }) => String(statusesOf(id))))
    const operations = [...new Set(same.map(({ operation }) => operation))]
    const isAlike =
      same.length >= 10 &&
      same.length * 5 >= results.length * 4 &&
      expected.size > 2 &&
      operations.length > 2
    if (!isAlike) continue
    const others = requirements.filter(
      (result) => operations.includes(result.operation) && wasAnsweredOtherwise(result, status),
    )
    // Passing answers count too: if many differ, it is not a uniform answer.
    if (others.length * 4 > same.length) continue
    const share = shareOf(status, run.statuses)
    return { clue: ofOneAnswer(response, operations, share), results: new Set(same) }
  }
  return undefined
}

function shareOf(status: number, statuses: Report['run']['statuses'] = []): number {
  const times = (some: typeof statuses): number => some.reduce((sum, one) => sum + one.times, 0)
  const all = times(statuses)
  return all === 0 ? 1 : times(statuses.filter((one) => one.status === status)) / all
}

function wasAnsweredOtherwise({ id, outcome }: RequirementResult, status: number): boolean {
  if (outcome !== 'passed' || expectedOf(id) === undefined) return false
  return isGranting(id) ? status >= 300 : !statusesOf(id).includes(status)
}

function ofOneAnswer(response: HttpResponse, operations: readonly string[], share: number): Clue {
  const { status, tpe } = response
  const isMost = operations.length * 2 > allOperations.length
  const most = share >= nearly ? 'nearly everything' : 'much'
  // Crashes and errors of the interface prove the address.
  const isOfServer = (tpe !== undefined && status !== 404) || (status !== null && status >= 500)
  const atAll = isOfServer
    ? 'check the log of the server'
    : 'check the base URL, the proxy in front of the server, and the log of the server'
  return clue({
    what: `${isMost ? most : `much of ${firstOf(operations, 3).join(', ')}`} gets the same answer: ${sayAnswers([response])}`,
    change: isMost
      ? atAll
      : 'check the proxy or cache in front of the server, and the log of the server',
  })
}

const differing = {
  what: 'the answers to one request differ',
  change: 'check the log of the server, and of each instance if there are several',
}
