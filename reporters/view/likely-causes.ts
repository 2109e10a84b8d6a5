import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { type Pairs, isRefusal } from '../../catalogue/requirement.ts'
import { codeNames, modelErrors } from '../../catalogue/errors.ts'
import { operations as allOperations } from '../../catalogue/operations.ts'
import type {
  Failure,
  HttpResponse,
  Report,
  RequirementResult,
} from '../../harness/report/index.ts'
import { count, isSame, responseOf, sayAnswers } from '../../harness/report/index.ts'
import { isObject, parsedJson } from '../../schemas/json.ts'
import { groupBy } from '../../harness/group-by.ts'
import { shortened } from '../escape/visible.ts'
import { comesAndGoes, ofDiffering } from './differing.ts'
import { capital, firstOf } from './writing.ts'

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

interface Words {
  readonly what: string
  readonly change: string
  /** `what` begins with the name of a member, which is written small. */
  readonly isName?: true
  /** One requirement alone tells it: all others depend on that. */
  readonly isTold?: true
}

/** A sign of a likely mistake of a server at one place; what has one key is one mistake, and said of all of it. */
interface Clue {
  readonly key: string
  readonly say: (results: readonly RequirementResult[]) => Words
}

function clue(words: Words): Clue {
  return { key: `${words.what}; ${words.change}`, say: () => words }
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

/** The answers of the requirement's refusal; none if it is to be granted, or is not about one request. */
function pairsOf(id: string): Pairs {
  const expects = isRequirementId(id) ? requirementOf(id).expects : undefined
  return isRefusal(expects) ? expects : []
}

function statusesOf(pairs: Pairs): number[] {
  return pairs.flatMap(([status]) => (typeof status === 'number' ? [status] : []))
}

function clueOf({ failures: [failure], id }: RequirementResult): Clue | undefined {
  // What a connection is to blame for is told of it: the answer to its second request has no status of its own to mend.
  if (failure?.connection !== undefined || failure === undefined) return undefined
  const response = responseOf(failure)
  const { status, tpe } = response
  if (status === null) return failure.exchange && noAnswer
  if (isUnfinished(id, failure)) return unfinishedJobs
  const expects = isRequirementId(id) ? requirementOf(id).expects : undefined
  const pairs = pairsOf(id)
  const wanted = statusesOf(pairs)
  if (status < 400) return wanted.length > 0 ? ofGranted(wanted) : undefined
  if (expects !== undefined && !isRefusal(expects)) return ofRefused(response)
  if (pairs.length > 0 && wanted.length === pairs.length && !wanted.includes(status))
    return ofStatus(status, wanted)
  // Nobody knows which status would be right in place of a breakdown.
  const envelope = expects === undefined && status >= 500 ? undefined : ofEnvelope(failure, tpe)
  if (envelope !== undefined || tpe === undefined) return envelope
  const names = pairs.flatMap(([of, ...list]) => (of === status ? list : []))
  if (names.length === 0 || names.includes(tpe)) return undefined
  const change = 'send the code name that §7.3 gives for the operation'
  return clue({ what: `tpe is ${tpe}, but should be ${or(names)}`, change, isName: true })
}

const noAnswer = clue({
  what: 'no complete answer came',
  change:
    'look at timeouts, and at what closes connections: the server, or what stands in front of it',
})

const unfinishedJobs = clue({
  what: 'no job ends: they stay in progress',
  change:
    'let each job end as completed or failed; limits.jobTimeoutMs says how long the suite waits for it',
  isTold: true,
})

/** The requirement is that a job ends, and what is shown is one that goes on. */
function isUnfinished(id: string, failure: Failure): boolean {
  if (id !== 'jobs.retrieve/200-outcome') return false
  const { value } = bodyOf(failure)
  return isObject(value) && value.status !== 'completed' && value.status !== 'failed'
}

function ofGranted(wanted: readonly number[]): Clue {
  const whose = wanted.includes(401)
    ? 'requests without a right key'
    : wanted.includes(403)
      ? 'requests without the permission'
      : wanted.includes(404)
        ? 'requests that name something unknown'
        : `requests to be refused with ${or(wanted)}`
  return clue({ what: `${whose} are granted`, change: `refuse them with ${or(wanted)}` })
}

function ofRefused(response: HttpResponse): Clue {
  return clue({
    what: `valid requests are answered ${sayAnswers([response])}`,
    change: changeOfRefused(response),
  })
}

function changeOfRefused({ status, tpe }: HttpResponse): string {
  if (tpe === undefined && status === 413)
    return 'raise the limit for bodies in what stands in front of the server: that of nginx is 1 MB if nobody sets it'
  if (status !== null && status >= 500)
    return 'look at the log of the server, or of what stands in front of it'
  if (tpe === undefined && (status === 404 || status === 405))
    return 'serve these operations, or declare them as not-served in operations of the target file'
  return 'grant them; if the server needs something else, declare a request that succeeds in the target file'
}

/** A status of one kind that stands in the place of others. */
function ofStatus(received: number, [usual]: readonly number[]): Clue {
  return {
    key: `${received} for ${usual}`,
    say(results) {
      const all = new Set(results.flatMap(({ id }) => statusesOf(pairsOf(id))))
      all.delete(usual!)
      const some = all.size > 0 ? ` (for some ${or([...all])} is right, too)` : ''
      return {
        what: `${received} is answered, but ${usual} is right${some}`,
        change: `answer these with ${usual} (§7.2)`,
      }
    },
  }
}

const envelope = 'tpe, errors and extras'

/** The status is right, but the body is no error envelope, or one that lacks something. */
function ofEnvelope(failure: Failure, tpe: string | undefined): Clue | undefined {
  const { form, value } = bodyOf(failure)
  if (tpe !== undefined && meantBy(tpe) !== undefined) return ofSpelling
  if (form !== undefined) return form === 'cut' ? undefined : ofNoEnvelope(forms[form])
  if (!isObject(value)) return ofNoEnvelope(forms.other)
  const missing = ['tpe', 'errors', 'extras'].filter((name) => !Object.hasOwn(value, name))
  if (missing.length === 0) return undefined
  if (missing.length === 3) {
    const names = Object.keys(value).sort().slice(0, 4)
    return ofNoEnvelope(
      names.length === 0
        ? 'the body is an empty object'
        : `the body has ${names.join(', ')} instead`,
    )
  }
  return clue({
    what: `${missing.join(' and ')} missing in error envelopes`,
    change: `an error envelope always has ${envelope}; errors and extras may be empty (§2.6)`,
    isName: true,
    isTold: true,
  })
}

const forms = {
  page: 'the body is a page',
  empty: 'there is no body',
  other: 'the body is no JSON object',
} as const

function ofNoEnvelope(form: string): Clue {
  const change = `answer every error with a JSON object that has ${envelope} (§2.6)`
  return clue({ what: `no error envelope, though the status is right: ${form}`, change })
}

/** Names what the body is, if it is not whole or no JSON. */
function bodyOf({ exchange }: Failure): { form?: keyof typeof forms | 'cut'; value?: unknown } {
  const response = exchange?.response
  if (response === undefined || response.body === '') return { form: 'empty' }
  if (response.bodyLength !== undefined) return { form: 'cut' }
  const value = parsedJson(response.body)
  if (value !== undefined) return { value }
  return { form: /^\s*<(?:!doctype|html|head|body)\b/i.test(response.body) ? 'page' : 'other' }
}

const statuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 503, 507]
const codes = [
  ...statuses.flatMap((status) => codeNames(status) ?? []),
  ...modelErrors,
  'GuardrailBlockedError',
]
const bySpelling = new Map(codes.map((name) => [letters(name), name]))

function letters(name: string): string {
  return name.replaceAll(/[\s._-]/g, '').toLowerCase()
}

/** The code name of the interface that is written in another letter case, or with other separators. */
function meantBy(tpe: string): string | undefined {
  const meant = bySpelling.get(letters(tpe))
  return meant === tpe || codes.includes(tpe) ? undefined : meant
}

const MOST_NAMES = 3

const ofSpelling: Clue = {
  key: 'spelling',
  say(results) {
    const names = new Set(results.map(({ failures }) => responseOf(failures[0]!).tpe!))
    const pairs = [...names].map((received) => ({ received, meant: meantBy(received)! }))
    const every = (how: (name: string) => string): boolean =>
      pairs.every(({ received }) => received === how(received))
    const isCase = pairs.every(
      ({ received, meant }) => received.toLowerCase() === meant.toLowerCase(),
    )
    const how = !isCase
      ? 'another spelling'
      : every((name) => name.toLowerCase())
        ? 'lower case'
        : every((name) => name.toUpperCase())
          ? 'upper case'
          : 'another letter case'
    const some = firstOf(
      pairs.map(({ received, meant }) => `${received} for ${meant}`),
      MOST_NAMES,
    )
    const change = 'send the code names exactly as §7.2 writes them: letter case counts'
    return { what: `tpe in ${how}: ${some.join(', ')}`, change, isName: true }
  },
}

function or(values: readonly (number | string)[]): string {
  return [...new Set(values)].join(' or ')
}
