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
import { comesAndGoes, ofDiffering } from './differing.ts'
import { capital } from './writing.ts'
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
}

/** Fewer failures than that are read faster than what they have in common. */
const FEWEST = 3
const MOST = 6

/** Facts of a run that say how its failures are to be read. */
type Answers = Pick<Report['run'], 'answersDiffer' | 'statuses'>

/**
 * Finds what failed requirements have in common, what most of them share first; nothing of what stands alone. If answers come
 * and go, that comes first, and what may follow from it is no cause.
 */
export function likelyCauses(
  failed: readonly RequirementResult[],
  answers: Answers = {},
): LikelyCause[] {
  const { answersDiffer } = answers
  if (!answersDiffer) return causesOf(failed, answers)
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
  return [...(own.length > 0 ? [first] : []), ...causesOf(rest, answers)].slice(0, MOST)
}

function causesOf(results: readonly RequirementResult[], answers: Answers): LikelyCause[] {
  const alike = oneAnswer(results, answers)
  const clues = results.flatMap((result) => {
    const found = alike?.results.has(result) ? alike.clue : clueOf(result)
    return found === undefined ? [] : [{ ...found, result }]
  })
  return [...groupBy(clues, ({ key }) => key).values()]
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
function oneAnswer(results: readonly RequirementResult[], { statuses = [] }: Answers) {
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
    if (
      same.length >= 10 &&
      same.length * 5 >= results.length * 4 &&
      expected.size > 2 &&
      operations.length > 2
    )
      return {
        clue: ofOneAnswer(response, operations, shareOf(response.status)),
        results: new Set(same),
      }
  }
  return undefined
}

/** @param share of all answers of the run, granted ones counted */
function ofOneAnswer(response: HttpResponse, operations: readonly string[], share: number): Clue {
  const isMost = operations.length * 2 > allOperations.length
  const all = share >= nearly ? 'nearly everything' : 'much'
  const what = isMost ? all : `much of ${operations.join(', ')}`
  return clue({
    what: `${what} is answered ${sayAnswers([response])}, whatever is asked`,
    change: isMost
      ? 'look at the base URL, at what stands in front of the server, and at the log of the server'
      : 'look at what stands in front of the server, a cache for example, and at the log of the server',
  })
}
