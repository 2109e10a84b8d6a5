import {
  type Failure,
  type HttpResponse,
  responseOf,
  sayAnswers,
} from '../../harness/report/index.ts'
import type { RequirementResult } from '../../harness/report/index.ts'
import { type Expected, isRefusal, type Pairs } from '../../catalogue/expected.ts'
import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { isObject, parsedJson } from '../../schemas/json.ts'
import { codeNames, modelErrors } from '../../catalogue/errors.ts'
import { firstOf } from './writing.ts'

interface Words {
  readonly what: string
  readonly change: string
  /** `what` begins with a member name, which is not capitalized. */
  readonly isName?: true
  /** A single requirement suffices: all others depend on it. */
  readonly isTold?: true
}

/** A sign of a likely mistake at one place in a server; equal keys are one mistake. */
export interface Clue {
  readonly key: string
  readonly say: (results: readonly RequirementResult[]) => Words
}

export function clue(words: Words): Clue {
  return { key: `${words.what}; ${words.change}`, say: () => words }
}

/** The catalogue's expectation; undefined for an id of another version, or without a single request. */
export function expectedOf(id: string): Expected | undefined {
  return isRequirementId(id) ? requirementOf(id).expects : undefined
}

export function isGranting(id: string): boolean {
  const expects = expectedOf(id)
  return expects !== undefined && !isRefusal(expects)
}

function pairsOf(id: string): Pairs {
  const expects = expectedOf(id)
  return isRefusal(expects) ? expects : []
}

export function statusesOf(id: string): number[] {
  return pairsOf(id).flatMap(([status]) => (typeof status === 'number' ? [status] : []))
}

export function clueOf({ failures: [failure], id }: RequirementResult): Clue | undefined {
  // A failure of a connection has no wrong status of its own.
  if (failure?.connection !== undefined || failure === undefined) return undefined
  const response = responseOf(failure)
  const { status, tpe } = response
  if (status === null) return failure.exchange && noAnswer
  if (id === 'jobs.retrieve/200-outcome') return ofUnendedJob(failure)
  if (status >= 300 && status < 400)
    return clue({
      what: `requests are redirected: ${status}`,
      change: 'serve the paths that the interface shows: redirects are not followed',
    })
  const pairs = pairsOf(id)
  const wanted = statusesOf(id)
  // Faults of bodies are refused in many places, wrong keys in one.
  if (status < 400) return wanted.some(isOfKeys) ? ofGranted(wanted) : undefined
  const isOfRun = failure.takes === 'object-of-run' || failure.takes === 'job-of-run'
  if (isGone(status) && !wanted.includes(status) && isOfRun) return vanished
  if (isGranting(id)) return ofRefused(response)
  if (status < 500 && bodyOf(failure).form === 'page') return ofPage(failure, status)
  if (pairs.length > 0 && wanted.length === pairs.length && !wanted.includes(status))
    return isOfOnePlace(status, wanted[0]!) ? ofStatus(status, wanted[0]!) : undefined
  // The right status in place of a crash is unknown.
  const isBreakdown = expectedOf(id) === undefined && status >= 500
  const envelope = isBreakdown ? undefined : ofEnvelope(failure, tpe)
  if (envelope !== undefined || tpe === undefined) return envelope
  const names = pairs.flatMap(([of, ...list]) => (of === status ? list : []))
  if (names.length === 0 || names.includes(tpe)) return undefined
  const change = `send ${or(names)}, the code name that §7.3 gives for the operation`
  return clue({ what: `tpe is ${tpe}, but should be ${or(names)}`, change, isName: true })
}

const noAnswer = clue({
  what: 'no complete answer came',
  change: 'look at timeouts, and at what closes connections: the server, or a proxy in front of it',
})

const unfinishedJobs = clue({
  what: 'no job ends: they stay in progress',
  change: 'end each job as completed or failed; limits.jobTimeoutMs says how long the suite waits',
  isTold: true,
})

const unknownState = clue({
  what: 'jobs have a status that the spec does not know',
  change: 'give each job one of the states in_progress, completed and failed (§2.3)',
  isTold: true,
})

function ofUnendedJob(failure: Failure): Clue | undefined {
  const { value } = bodyOf(failure)
  if (!isObject(value)) return undefined
  if (value.status === 'in_progress') return unfinishedJobs
  return typeof value.status === 'string' ? unknownState : undefined
}

const isGone = (status: number | null): boolean => status === 404 || status === 410

const vanished = clue({
  what: 'what the run creates is not found later',
  change:
    'keep what is created: look for a restart; if it only takes longer to appear, raise limits.settleMs',
})

function ofPage({ exchange }: Failure, status: number): Clue {
  const { body = '', headers = {} } = exchange?.response ?? {}
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim() ?? ''
  const name = title.startsWith(`${status}`) ? title : `${status} ${title}`.trim()
  const by = headers['server'] === undefined ? '' : ` (${headers['server']})`
  return clue({
    what: `HTML page instead of the JSON error envelope: ${name}${by}`,
    change:
      'return the JSON error envelope (tpe, errors, extras; §2.6); if a proxy wrote the page, make it forward the request',
  })
}

const isOfKeys = (status: number): boolean => status === 401 || status === 403

function ofGranted(wanted: readonly number[]): Clue {
  const of = wanted.includes(401) ? 'without a valid key' : 'without the permission'
  const requests = `requests ${of}`
  const refuse = `refuse ${requests} with ${or(wanted)}`
  return {
    key: refuse,
    say(results) {
      // A requirement is judged up to its first failure: those before it were refused.
      const isSome = results.some(({ cases }) => cases > 1)
      const ids = results.map(({ id }) => id)
      const what = isSome
        ? `some ${requests} are accepted: see ${firstOf(ids, MOST_NAMES).join(', ')}`
        : `${requests} are accepted`
      const sign = results.map(({ failures }) => signOfCache(failures[0])).find(Boolean)
      const cache = `a cache answers, as the header ${sign} shows: make it respect the key, or turn it off`
      return { what, change: sign ? `${refuse}; ${cache}` : refuse }
    },
  }
}

/** The header by which a cache reveals a cached answer. Any proxy sends `Via`, and `Age: 0` for fresh ones. */
function signOfCache(failure: Failure | undefined): string | undefined {
  const headers = Object.entries(failure?.exchange?.response?.headers ?? {})
  const [name] = headers.find(([of, value]) => signsOfCache[of.toLowerCase()]?.test(value)) ?? []
  return name?.toLowerCase()
}

const signsOfCache: Readonly<Record<string, RegExp>> = {
  age: /^0*[1-9]\d*$/,
  'cache-status': /;\s*hit\b/i,
  'cf-cache-status': /^(?:hit|stale|updating|revalidated)$/i,
  'x-cache': /\bhit\b/i,
  // Ids of this request and the cached one.
  'x-varnish': /^\d+ \d+$/,
}

/** A refusal of valid requests of many operations at one place: a limit or timeout of a proxy, a missing router. */
function ofRefused(response: HttpResponse): Clue | undefined {
  const { status, tpe } = response
  const what = `valid requests get ${sayAnswers([response])}`
  if (tpe !== undefined) return undefined
  if (status === 413)
    return clue({
      what,
      change: 'raise the body limit of the server or the proxy (nginx: 1 MB unless set)',
    })
  if (status === 504)
    return clue({ what, change: 'raise the timeout of the proxy, or check the log of the server' })
  if (status === 404 || status === 405)
    return clue({
      what,
      change: `build the operations that return ${status}, or declare them not-served in the target file`,
    })
  return undefined
}

/** One handler returns the status: a framework's validation, or the check of the key. */
function isOfOnePlace(received: number, wanted: number): boolean {
  return received === 422 || (isOfKeys(wanted) && received < 500)
}

function ofStatus(received: number, usual: number): Clue {
  return {
    key: `${received} for ${usual}`,
    say(results) {
      const all = new Set(results.flatMap(({ id }) => statusesOf(id)))
      all.delete(usual)
      const some = all.size > 0 ? ` (for some ${or([...all])} is right, too)` : ''
      return {
        what: `${received} returned, but ${usual} is right${some}`,
        change: `return ${usual} in place of ${received} (§7.2)`,
      }
    },
  }
}

const members = ['tpe', 'errors', 'extras']
const envelope = 'tpe, errors and extras'

function ofEnvelope(failure: Failure, tpe: string | undefined): Clue | undefined {
  if (tpe !== undefined && meantBy(tpe) !== undefined) return ofSpelling
  const { form, value } = bodyOf(failure)
  if (form === 'cut') return undefined
  if (form !== undefined || !isObject(value)) return ofNoEnvelope(forms[form ?? 'other'])
  const missing = members.filter((name) => !Object.hasOwn(value, name))
  if (missing.length === 0) return undefined
  if (missing.length < members.length)
    return clue({
      what: `${missing.join(' and ')} missing in error envelopes`,
      change: `add ${missing.join(' and ')} to every error envelope; errors and extras may be empty (§2.6)`,
      isName: true,
      isTold: true,
    })
  const names = Object.keys(value).sort().slice(0, 4).join(', ')
  return ofNoEnvelope(
    names === '' ? 'the body is an empty object' : `the body has ${names} instead`,
  )
}

const forms = {
  page: 'the body is a page',
  empty: 'there is no body',
  other: 'the body is not a JSON object',
} as const

function ofNoEnvelope(form: string): Clue {
  const change = `return every error as a JSON object with ${envelope} (§2.6)`
  return clue({ what: `no error envelope, but the right status: ${form}`, change })
}

function bodyOf({ exchange }: Failure): { form?: keyof typeof forms | 'cut'; value?: unknown } {
  const response = exchange?.response
  if (response === undefined || response.body === '') return { form: 'empty' }
  if (response.bodyLength !== undefined) return { form: 'cut' }
  const value = parsedJson(response.body)
  if (value !== undefined) return { value }
  return { form: /^\s*<(?:!doctype|html|head|body)\b/i.test(response.body) ? 'page' : 'other' }
}

const letters = (name: string): string => name.replaceAll(/[\s._-]/g, '').toLowerCase()
const statuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 503, 507]

function meantBy(tpe: string): string | undefined {
  const named = statuses.flatMap((status) => codeNames(status) ?? [])
  const codes = [...named, ...modelErrors, 'GuardrailBlockedError']
  return codes.includes(tpe) ? undefined : codes.findLast((name) => letters(name) === letters(tpe))
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
      ({ meant, received }) => received.toLowerCase() === meant.toLowerCase(),
    )
    const how = !isCase
      ? 'another spelling'
      : every((name) => name.toLowerCase())
        ? 'lower case'
        : every((name) => name.toUpperCase())
          ? 'upper case'
          : 'another letter case'
    const said = pairs.map(({ received, meant }) => `${received} for ${meant}`)
    const change = 'send the code names exactly as §7.2 writes them: letter case counts'
    return { what: `tpe in ${how}: ${firstOf(said, MOST_NAMES).join(', ')}`, change, isName: true }
  },
}

function or(values: readonly (number | string)[]): string {
  return [...new Set(values)].join(' or ')
}
