import { operations as allOperations } from '../../catalogue/operations.ts'
import {
  type HttpResponse,
  type Report,
  type RequirementResult,
  count,
  isSame,
  responseOf,
  sayAnswers,
} from '../../harness/report/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import { shortened } from '../escape/visible.ts'
import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { isRefusal } from '../../catalogue/expected.ts'
import { comesAndGoes, ofDiffering } from './differing.ts'
import { absentOperations } from './operation-map.ts'
import { capital, firstOf } from './writing.ts'
import { clue, clueOf, statusesOf, pairsOf, type Clue } from './clues.ts'

/** Failed requirements that one change would most likely mend. Its texts hold text of the target. */
export interface LikelyCause {
  /** Symptom that is seen; as a title it begins with a capital. */
  readonly what: string
  readonly title: string
  /** Change that would mend it; as a sentence it ends with a full stop. */
  readonly change: string
  readonly sentence: string
  /** Results in report order. */
  readonly results: readonly RequirementResult[]
  /** Its operations are not there: that is told by itself, and before all others. */
  readonly isAbsent?: true
}

/** Fewer failures than that are read faster than what they have in common. */
const FEWEST = 3
const MOST = 6

/** What a run learned besides its failures, which says how they are to be read. */
interface Learned {
  readonly run: Pick<Report['run'], 'absent' | 'answersDiffer' | 'statuses'>
  readonly requirements: readonly RequirementResult[]
}

/**
 * Finds what failed requirements have in common, what most of them share first; nothing of what stands alone. If answers come
 * and go, that comes first, and what may follow from it is no cause.
 */
export function likelyCauses(
  failed: readonly RequirementResult[],
  learned: Learned = { run: {}, requirements: [] },
): LikelyCause[] {
  const { answersDiffer } = learned.run
  if (!answersDiffer) return causesOf(failed, learned)
  const own = failed.filter((result) => comesAndGoes(result, answersDiffer))
  const rest = failed.filter((result) => !own.includes(result))
  const { change, what } = ofDiffering(answersDiffer)
  const first = {
    what,
    title: capital(what),
    change,
    sentence: `${capital(change)}.`,
    results: own,
  }
  return [...(own.length > 0 ? [first] : []), ...causesOf(rest, learned)].slice(0, MOST)
}

function causesOf(all: readonly RequirementResult[], learned: Learned): LikelyCause[] {
  const absent = absentOperations(learned)
  const results = all.filter(({ operation }) => !absent.has(operation))
  const alike = oneAnswer(results, learned)
  const clues = results.flatMap((result) => {
    const found = alike?.results.has(result) ? alike.clue : clueOf(result)
    return found === undefined ? [] : [{ ...found, result }]
  })
  const causes = [...groupBy(clues, ({ key }) => key).values()]
    .map((group) => {
      const own = group.map(({ result }) => result)
      return { ...group[0]!.say(own), results: own }
    })
    .filter(({ isTold, results: { length } }) => length >= FEWEST || isTold)
    .sort((a, b) => b.results.length - a.results.length)
    .slice(0, MOST)
    .map(({ change, isName, results: own, ...words }) => {
      const what = shortened(words.what, 300)
      const title = isName ? what : capital(what)
      return { what, title, change, sentence: `${capital(change)}.`, results: own }
    })
  return [...notThere(all.filter((result) => !results.includes(result))), ...causes].slice(0, MOST)
}

function notThere(results: readonly RequirementResult[]): LikelyCause[] {
  if (results.length === 0) return []
  const operations = [...new Set(results.map(({ operation }) => operation))]
  const what = `not built yet: ${firstOf(operations, 3).join(', ')}`
  const change = 'build them, or say in the target file that they are not-served'
  return [
    {
      what,
      title: capital(what),
      change,
      sentence: `${capital(change)}.`,
      results,
      isAbsent: true,
    },
  ]
}

/** `likely causes of 5 failures`; of 2 of them, if nothing is known of the others. */
export function likelyHeading(causes: readonly LikelyCause[], failures: number): string {
  const { size } = new Set(causes.flatMap(({ results }) => results))
  const all = count(failures, 'failure')
  return `likely ${causes.length === 1 ? 'cause' : 'causes'} of ${size < failures ? `${size} of ${all}` : all}`
}

/** Share of all answers from which on it is nearly everything that is answered so. */
const nearly = 0.75

/** The answer that four of five failures share, though different ones were expected; and those failures. */
function oneAnswer(
  results: readonly RequirementResult[],
  { requirements, run: { statuses = [] } }: Learned,
) {
  const all = statuses.reduce((sum, { times }) => sum + times, 0)
  const shareOf = (status: number): number =>
    all === 0
      ? 1
      : statuses.reduce((sum, one) => sum + (one.status === status ? one.times : 0), 0) / all
  const answered = results.flatMap((result) => {
    const [failure] = result.failures
    return failure === undefined ? [] : [{ result, response: responseOf(failure) }]
  })
  for (const { response } of answered.slice(0, 20)) {
    if (response.status === null) continue
    const same = answered
      .filter((other) => isSame(other.response, response))
      .map(({ result }) => result)
    const expected = new Set(same.map(({ id }) => String(statusesOf(pairsOf(id)))))
    const operations = [...new Set(same.map(({ operation }) => operation))]
    const isAlike =
      same.length >= 10 &&
      same.length * 5 >= results.length * 4 &&
      expected.size > 2 &&
      operations.length > 2
    if (!isAlike) continue
    const others = requirements.filter(
      (result) =>
        operations.includes(result.operation) && wasAnsweredOtherwise(result, response.status!),
    )
    // Answers that passed count as well: where many differ, it is not the answer to whatever is asked.
    if (others.length * 4 <= same.length)
      return {
        clue: ofOneAnswer(response, operations, shareOf(response.status)),
        results: new Set(same),
      }
  }
  return undefined
}

/** It passed by another status: that of another refusal, or of a request that is granted. */
function wasAnsweredOtherwise({ id, outcome }: RequirementResult, status: number): boolean {
  const expects = isRequirementId(id) ? requirementOf(id).expects : undefined
  if (outcome !== 'passed' || expects === undefined) return false
  return isRefusal(expects) ? !statusesOf(expects).includes(status) : status >= 300
}

/** @param share of all answers of the run, granted ones counted */
function ofOneAnswer(response: HttpResponse, operations: readonly string[], share: number): Clue {
  // Whoever answers with errors of the interface is found at its address.
  const isOfServer = response.tpe !== undefined && response.status !== 404
  const isMost = operations.length * 2 > allOperations.length
  const all = share >= nearly ? 'nearly everything' : 'much'
  const what = isMost ? all : `much of ${operations.join(', ')}`
  return clue({
    what: `${what} is answered ${sayAnswers([response])}, whatever is asked`,
    change: isMost
      ? isOfServer
        ? 'look at the log of the server'
        : 'look at the base URL, at what stands in front of the server, and at the log of the server'
      : 'look at what stands in front of the server, a cache for example, and at the log of the server',
  })
}
