import { operations as allOperations } from '../../catalogue/operations.ts'
import { count, type HttpResponse, sayAnswers } from '../../harness/report/index.ts'
import { shortened } from '../escape/visible.ts'
import { capital, firstOf } from './writing.ts'
import type { Likely, LikelyCause } from './causes.ts'

/** Words for a likely cause: what is seen, and what to change. Both hold text of the target. */
interface LikelyWords {
  readonly what: string
  readonly change: string
}

/** Kinds whose words begin with the name of a member, which is written small. */
const namesFirst: readonly Likely['kind'][] = ['spelling', 'name', 'envelope-members']

const MOST_NAMES = 3
const envelope = 'tpe, errors and extras'

/** The words for it; `title` and `sentence` begin and end as those do. */
export function wordsOf({ likely }: LikelyCause) {
  const words = sayLikely(likely)
  const what = shortened(words.what, 300)
  const title = namesFirst.includes(likely.kind) ? what : capital(what)
  return { what, title, change: words.change, sentence: `${capital(words.change)}.` }
}

/** `likely causes of 5 failures`; of 2 of them, if nothing is known of the others. */
export function likelyHeading(causes: readonly LikelyCause[], failures: number): string {
  const { size } = new Set(causes.flatMap(({ results }) => results))
  const all = count(failures, 'failure')
  return `likely ${causes.length === 1 ? 'cause' : 'causes'} of ${size < failures ? `${size} of ${all}` : all}`
}

function sayLikely(likely: Likely): LikelyWords {
  switch (likely.kind) {
    case 'spelling':
      return sayNames(likely.names)
    case 'no-envelope':
      return {
        what: `no error envelope, though the status is right: ${sayForm(likely.form)}`,
        change: `answer every error with a JSON object that has ${envelope} (§2.6)`,
      }
    case 'envelope-members':
      return {
        what: `${likely.missing.join(' and ')} missing in error envelopes`,
        change: `an error envelope always has ${envelope}; errors and extras may be empty (§2.6)`,
      }
    case 'one-answer':
      return sayOneAnswer(likely)
    case 'status':
      return sayStatus(likely.received, likely.wanted)
    case 'name':
      return {
        what: `tpe ${likely.received} in place of ${list(likely.wanted)}`,
        change: 'send the code name that §7.3 gives for the operation',
      }
    case 'granted':
      return sayGranted(likely.wanted)
    case 'refused':
      return {
        what: `valid requests are answered ${sayAnswers([likely.response])}`,
        change: changeOfRefused(likely.response),
      }
    case 'no-answer':
      return {
        what: 'no complete answer came',
        change: 'look at timeouts, and at what closes connections: the server, or what stands in front of it',
      }
    case 'unfinished-jobs':
      return {
        what: 'no job ends: they stay in progress',
        change: 'let each job end as completed or failed; limits.jobTimeoutMs says how long the suite waits for it',
      }
  }
}

function sayOneAnswer({ response, operations }: Extract<Likely, { kind: 'one-answer' }>): LikelyWords {
  const isMost = operations.length * 2 > allOperations.length
  const what = isMost ? 'nearly everything' : `much of ${operations.join(', ')}`
  return {
    what: `${what} is answered ${sayAnswers([response])}, whatever is asked`,
    change: isMost
      ? 'look at the base URL, at what stands in front of the server, and at the log of the server'
      : 'look at what stands in front of the server, a cache for example, and at the log of the server',
  }
}

function changeOfRefused({ status, tpe }: HttpResponse): string {
  if (tpe === undefined && status === 413)
    return 'raise the limit for bodies in what stands in front of the server: that of nginx is 1 MB if nobody sets it'
  if (status !== null && status >= 500) return 'look at the log of the server, or of what stands in front of it'
  if (tpe === undefined && (status === 404 || status === 405))
    return 'serve these operations, or declare them as not-served in operations of the target file'
  return 'grant them; if the server needs something else, declare a request that succeeds in the target file'
}

function sayNames(names: readonly { readonly received: string; readonly meant: string }[]): LikelyWords {
  const every = (how: (name: string) => string): boolean => names.every(({ received }) => received === how(received))
  const isCase = names.every(({ received, meant }) => received.toLowerCase() === meant.toLowerCase())
  const how = !isCase
    ? 'tpe in another spelling'
    : every((name) => name.toLowerCase())
      ? 'tpe in lower case'
      : every((name) => name.toUpperCase())
        ? 'tpe in upper case'
        : 'tpe in another letter case'
  const pairs = names.map(({ received, meant }) => `${received} for ${meant}`)
  return {
    what: `${how}: ${firstOf(pairs, MOST_NAMES).join(', ')}`,
    change: 'send the code names exactly as §7.2 writes them: letter case counts',
  }
}

function sayStatus(received: number, [usual, ...others]: readonly number[]): LikelyWords {
  const some = others.length > 0 ? ` (of some also ${list(others)})` : ''
  return { what: `${received} in place of ${usual}${some}`, change: `answer these with ${usual} (§7.2)` }
}

function sayForm(form: Extract<Likely, { kind: 'no-envelope' }>['form']): string {
  if (form === 'page') return 'the body is a page'
  if (form === 'empty') return 'there is no body'
  if (form === 'other') return 'the body is no JSON object'
  return form.length === 0 ? 'the body is an empty object' : `the body has ${form.join(', ')} instead`
}

function sayGranted(wanted: readonly number[]): LikelyWords {
  const change = `refuse them with ${list(wanted)}`
  if (wanted.includes(401)) return { what: 'requests without a right key are granted', change }
  if (wanted.includes(403)) return { what: 'requests without the permission are granted', change }
  if (wanted.includes(404)) return { what: 'requests that name something unknown are granted', change }
  return { what: `requests to be refused with ${list(wanted)} are granted`, change }
}

function list(values: readonly (number | string)[]): string {
  return [...new Set(values)].join(' or ')
}
