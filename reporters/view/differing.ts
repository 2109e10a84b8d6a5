import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { isRefusal } from '../../catalogue/expected.ts'
import type { AnswersDiffer, RequirementResult } from '../../harness/report/index.ts'
import { isGone } from './clues.ts'
import { count, isSame, responseOf, sayAnswers } from '../../harness/report/index.ts'

/** What one answer that comes and goes explains: itself, valid requests that were refused, and requests without an answer. */
export function comesAndGoes(
  { failures: [failure], id }: RequirementResult,
  differ: AnswersDiffer,
): boolean {
  if (failure === undefined) return false
  if (failure.takes === 'chance') return true
  const response = responseOf(failure)
  // Instances that know different things grant what another has, and do not find it.
  if (isGone(differ.status) && failure.takes !== undefined && failure.takes !== 'more-requests')
    return true
  if (response.status === null) return true
  if (
    isSame(response, {
      status: differ.status,
      ...(differ.tpe !== undefined && { tpe: differ.tpe }),
    })
  )
    return true
  const expects = isRequirementId(id) ? requirementOf(id).expects : undefined
  return response.status >= 400 && expects !== undefined && !isRefusal(expects)
}

/** The answer that comes and goes, in words; how often it came, and what that looks like. */
export function ofDiffering({
  cookie,
  header,
  like,
  of,
  since,
  status,
  times,
  tpe,
  until,
}: AnswersDiffer) {
  const answer = sayAnswers([{ status, ...(tpe !== undefined && { tpe }) }])
  const often = `${times} of ${count(of, 'answer')} ${times === 1 ? 'was' : 'were'} ${answer}`
  const what = 'answers differ from one time to the next: '
  const clock = (time: string): string => `${time.slice(11, 19)} UTC`
  if (like === 'outage')
    return {
      what: `${what}from ${clock(since)} to ${clock(until)} nearly all were ${answer}`,
      change: 'it looks like an outage or a restart: look at the log of the server of that time',
    }
  if (like === 'change')
    return {
      what: `${what}since ${clock(since)} nearly all are ${answer}`,
      change:
        'something changed in the middle of the run: look at the log of the server of that time',
    }
  if (header)
    return {
      what: `${what}${often}, nearly all of them ${header.share === undefined ? 'and nearly no others ' : ''}with ${header.name}: ${header.value}${header.share === undefined ? '' : `, as ${header.share} % of all answers`}`,
      change: `one instance of several seems to be ${status < 500 ? 'another one than the rest' : 'broken'}: look at that with ${header.name}: ${header.value}`,
    }
  const by =
    cookie === undefined
      ? ''
      : `; the cookie ${cookie} may keep all requests on one of them: --header 'cookie: ${cookie}=...'`
  return {
    what: `${what}${often}`,
    change: isGone(status)
      ? `it looks as if instances of the service know different things: look at how they share what is created${by}`
      : `it looks as if one instance of several is ${status < 500 ? 'another one than the rest: look at which versions run' : 'broken: look at the log of each'}${by}`,
  }
}
