import { operations as allOperations } from '../../catalogue/operations.ts'
import { conditionOf } from '../../catalogue/requirement.ts'
import { groupBy } from '../../harness/group-by.ts'
import {
  type Failure,
  type HttpResponse,
  isSame,
  type Report,
  type RequirementResult,
  responseOf,
  sayAnswers,
} from '../../harness/report/index.ts'
import { shortened } from '../escape.ts'
import { type Clue, clueOf, isGranting, statusesOf } from './clues.ts'
import { absentOperations } from './operation-map.ts'
import { firstOf } from './writing.ts'

/** Failures and their known causes, required checks first, in report order. */
export function failuresOf(report: Report) {
  const { requirements, run } = report
  const known = new Set(run.baseline?.expected)
  const failed = requirements.filter((requirement) => requirement.outcome === 'failed')
  const ranked = [...failed.filter(isMust), ...failed.filter((result) => !isMust(result))]
  const unexpected = ranked.filter((one) => !known.has(one.id))
  const likely = likelyCauses(unexpected, report)
  const explained = new Set(likely.flatMap((one) => one.results))
  const unexplained = unexpected.filter((result) => !explained.has(result))
  const distinct: Distinct[] = [
    ...likely.map((cause) => ({ cause, results: cause.results, example: simplest(cause.results) })),
    ...byCause(unexplained),
  ]
  const isRequired = (one: Distinct): boolean => one.results.some(isMust)
  return {
    unexpected,
    unexplained,
    likely,
    expected: ranked.filter((one) => known.has(one.id)),
    distinct: [...distinct.filter(isRequired), ...distinct.filter((group) => !isRequired(group))],
  }
}

export const isMust = (result: RequirementResult): boolean => result.level === 'must'

/** Failures that are shown once, by an example. */
export interface Distinct {
  readonly cause?: LikelyCause
  readonly results: readonly RequirementResult[]
  readonly example: RequirementResult
}

/** The one with the shortest body, a required check if there is any. */
function simplest(results: readonly RequirementResult[]): RequirementResult {
  const sizeOf = ({ failures: [first] }: RequirementResult): number => {
    const request = first?.exchange?.request
    return request === undefined ? Infinity : (request.bodyLength ?? request.body.length)
  }
  const required = results.filter(isMust)
  return (required.length > 0 ? required : results).toSorted(
    (one, other) => sizeOf(one) - sizeOf(other) || 0,
  )[0]!
}

/**
 * Groups failures of several operations with the same level, expectation and error, and all failures of reused
 * connections. The groups keep the order of their first members.
 */
export function byCause(results: readonly RequirementResult[]): Distinct[] {
  return [...groupBy(results, keyOf).values()].flatMap((group): Distinct[] => {
    const { connection, noEnvelope }: Partial<Failure> = group[0]!.failures[0] ?? {}
    const isOfServer = connection !== undefined || noEnvelope === true
    return isOfServer || new Set(group.map((one) => one.operation)).size > 1
      ? [{ results: group, example: simplest(group) }]
      : group.map((one) => ({ results: [one], example: one }))
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

/** Failures that one change would most likely fix. */
export interface LikelyCause extends Clue {
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
  const byChance = failed.filter(({ failures: [first] }) => first?.takes === 'chance')
  const chance = byChance.length >= FEWEST ? byChance : []
  const lasting = failed.filter((result) => !chance.includes(result))
  const absent = absentOperations(learned)
  const missing = lasting.filter((one) => absent.has(one.operation))
  const present = lasting.filter((result) => !missing.includes(result))
  const alike = oneAnswer(present, learned)
  const clues = present.flatMap((result) => {
    const clue = alike?.results.includes(result) ? undefined : clueOf(result)
    return clue ? [{ clue, result }] : []
  })
  const causes = [...groupBy(clues, (one) => `${one.clue.what}; ${one.clue.change}`).values()]
    .map((group) => ({ ...group[0]!.clue, results: group.map((one) => one.result) }))
    .filter((one) => one.isTold || one.results.length >= FEWEST)
    .sort((a, b) => b.results.length - a.results.length)
  const operations = firstOf([...new Set(missing.map((one) => one.operation))], 3)
  const all: LikelyCause[] = [
    ...(chance.length > 0 ? [{ ...differing, results: chance }] : []),
    ...(missing.length > 0 ? [{ ...notBuilt(operations), results: missing }] : []),
    ...(alike ? [alike] : []),
    ...causes,
  ]
  return all.slice(0, MOST)
}

const differing = {
  what: 'the answers to one request differ',
  change: 'check the log of the server, and of each instance if there are several',
}

const notBuilt = (operations: readonly string[]) => ({
  what: `not built: ${operations.join(', ')}`,
  change: 'build them, or declare them not-served in the target file',
  isAbsent: true as const,
})

/** At least ten failures, four of five, that got one answer where several different ones were expected. */
function oneAnswer(
  results: readonly RequirementResult[],
  learned: Learned,
): LikelyCause | undefined {
  const answered = results.flatMap((result) => {
    const [failure] = result.failures
    return failure === undefined ? [] : [{ result, response: responseOf(failure) }]
  })
  for (const { response } of answered.slice(0, 20)) {
    const { status } = response
    if (status === null) continue
    const same = answered.flatMap((other) =>
      isSame(other.response, response) ? [other.result] : [],
    )
    const expected = new Set(same.map((one) => String(statusesOf(one.id))))
    const operations = [...new Set(same.map((one) => one.operation))]
    const isMost = same.length >= 10 && same.length * 5 >= results.length * 4
    if (!isMost || expected.size <= 2 || operations.length <= 2) continue
    const others = learned.requirements.filter(
      (result) => operations.includes(result.operation) && wasAnsweredOtherwise(result, status),
    )
    // Passing answers count too: if many differ, it is not a uniform answer.
    if (others.length * 4 <= same.length)
      return {
        ...ofOneAnswer(response, operations, learned.run),
        results: same,
        isEverything: true,
      }
  }
  return undefined
}

function wasAnsweredOtherwise(result: RequirementResult, status: number): boolean {
  const isGranted = isGranting(result.id)
  if (result.outcome !== 'passed' || isGranted === undefined) return false
  return isGranted ? status >= 300 : !statusesOf(result.id).includes(status)
}

const nearly = 0.75

function ofOneAnswer(
  response: HttpResponse,
  operations: readonly string[],
  { statuses = [] }: Learned['run'],
): Clue {
  const { status, tpe } = response
  const all = statuses.reduce((sum, statuse) => sum + statuse.times, 0)
  const same = statuses.find((one) => one.status === status)?.times ?? 0
  const most = all === 0 || same >= all * nearly ? 'nearly everything' : 'much'
  const isMost = operations.length * 2 > allOperations.length
  // Crashes and errors of the interface prove the address.
  const isOfServer = (tpe !== undefined && status !== 404) || (status !== null && status >= 500)
  const others = isMost
    ? 'the base URL, the proxy in front of the server, and '
    : 'the proxy or cache in front of the server, and '
  return {
    what: shortened(
      `${isMost ? most : `much of ${firstOf(operations, 3).join(', ')}`} gets the same answer: ${sayAnswers([response])}`,
      300,
    ),
    change: `check ${isMost && isOfServer ? '' : others}the log of the server`,
  }
}
