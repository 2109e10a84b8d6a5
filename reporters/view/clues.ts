import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { codeNames, modelErrors } from '../../catalogue/errors.ts'
import { isRefusal, type Pairs } from '../../catalogue/expected.ts'
import { type Failure, type RequirementResult, responseOf } from '../../harness/report/index.ts'
import { isObject, member, parsedJson } from '../../schemas/json.ts'
import { shortened } from '../escape.ts'

/** A sign of a likely mistake at one place in a server. May contain text of the target. */
export interface Clue {
  readonly what: string
  /** The fix, without a full stop. */
  readonly change: string
  /** A single requirement suffices: all others depend on it. */
  readonly isTold?: true
}

/** Whether the id asks for a success; undefined for an id of another version, or without a single request. */
export function isGranting(id: string): boolean | undefined {
  const expects = isRequirementId(id) ? requirementOf(id).expects : undefined
  return expects && !isRefusal(expects)
}

function pairsOf(id: string): Pairs {
  const expects = isRequirementId(id) ? requirementOf(id).expects : undefined
  return isRefusal(expects) ? expects : []
}

export function statusesOf(id: string): number[] {
  return pairsOf(id).flatMap(([status]) => (typeof status === 'number' ? [status] : []))
}

export function clueOf({ failures: [failure], id }: RequirementResult): Clue | undefined {
  // A failure of a connection has no wrong status of its own.
  if (failure === undefined || failure.connection !== undefined) return undefined
  const { status, tpe } = responseOf(failure)
  if (status === null) return failure.exchange && noAnswer
  const { form, value } = bodyOf(failure)
  if (id === 'jobs.retrieve/200-outcome')
    return member(value, 'status') === 'in_progress' ? unfinishedJobs : undefined
  const pairs = pairsOf(id)
  const wanted = statusesOf(id)
  // Faults of bodies are refused in many places, wrong keys in one.
  if (status < 400) return wanted.some(isOfKeys) ? ofAcceptedKeys(wanted) : undefined
  const isOfRun = failure.takes === 'object-of-run' || failure.takes === 'job-of-run'
  if ((status === 404 || status === 410) && !wanted.includes(status) && isOfRun) return vanished
  if (isGranting(id)) return undefined
  if (status < 500 && form === 'page') return pageInstead(status)
  if (pairs.length > 0 && wanted.length === pairs.length && !wanted.includes(status))
    return ofStatus(status, wanted[0]!)
  // The right status in place of a crash is unknown.
  const isBreakdown = isGranting(id) === undefined && status >= 500
  if (tpe === undefined) return isBreakdown ? undefined : ofEnvelope(form, value)
  if (isMisspelt(tpe)) return misspelt
  const missing = isBreakdown ? undefined : ofEnvelope(form, value)
  if (missing) return missing
  const names = pairs.flatMap(([of, ...list]) => (of === status ? list : []))
  return names.length === 0 || names.includes(tpe) ? undefined : ofName(tpe, or(names))
}

const noAnswer: Clue = {
  what: 'no complete answer came',
  change: 'look at timeouts, and at what closes connections: the server, or a proxy in front of it',
}

const unfinishedJobs: Clue = {
  what: 'no job ends: they stay in progress',
  change: 'end each job as completed or failed; limits.jobTimeoutMs says how long the suite waits',
  isTold: true,
}

const vanished: Clue = {
  what: 'what the run creates is not found later',
  change:
    'keep what is created: look for a restart; if it only takes longer to appear, raise limits.settleMs',
}

const misspelt: Clue = {
  what: 'code names in another spelling',
  change: 'send the code names exactly as §7.2 writes them: letter case counts',
}

const isOfKeys = (status: number): boolean => status === 401 || status === 403

function ofAcceptedKeys(wanted: readonly number[]): Clue {
  const requests = `requests without ${wanted.includes(401) ? 'a valid key' : 'the permission'}`
  return { what: `${requests} are accepted`, change: `refuse ${requests} with ${or(wanted)}` }
}

const pageInstead = (status: number): Clue => ({
  what: `HTML page instead of the JSON error envelope: ${status}`,
  change:
    'return the JSON error envelope (tpe, errors, extras; §2.6); if a proxy wrote the page, make it forward the request',
})

/** Only if one handler returns the status: a framework's validation, or the check of the key. */
function ofStatus(received: number, wanted: number): Clue | undefined {
  if (received !== 422 && !(isOfKeys(wanted) && received < 500)) return undefined
  return {
    what: `${received} returned, but ${wanted} is right`,
    change: `return ${wanted} in place of ${received} (§7.2)`,
  }
}

const ofName = (received: string, wanted: string): Clue => ({
  what: `wrong code name: ${shortened(received, 100)} in place of ${wanted}`,
  change: `send ${wanted}, the code name that §7.3 gives for the operation`,
})

const members = ['tpe', 'errors', 'extras']

function ofEnvelope(form: Form | undefined, value: unknown): Clue | undefined {
  if (form === 'cut') return undefined
  if (form !== undefined || !isObject(value)) return ofNoEnvelope(forms[form ?? 'other'])
  const missing = members.filter((name) => !Object.hasOwn(value, name))
  if (missing.length === 0) return undefined
  const names = Object.keys(value).sort().slice(0, 4).join(', ')
  if (missing.length === members.length)
    return ofNoEnvelope(
      names === '' ? 'the body is an empty object' : `the body has ${names} instead`,
    )
  return {
    what: `error envelopes lack ${missing.join(' and ')}`,
    change: `add ${missing.join(' and ')} to every error envelope; errors and extras may be empty (§2.6)`,
    isTold: true,
  }
}

const ofNoEnvelope = (form: string): Clue => ({
  what: `no error envelope, but the right status: ${form}`,
  change: 'return every error as a JSON object with tpe, errors and extras (§2.6)',
})

const forms = {
  page: 'the body is a page',
  empty: 'there is no body',
  other: 'the body is not a JSON object',
} as const

type Form = keyof typeof forms | 'cut'

function bodyOf(failure: Failure): { form?: Form; value?: unknown } {
  const response = failure.exchange?.response
  if (response === undefined || response.body === '') return { form: 'empty' }
  if (response.bodyLength !== undefined) return { form: 'cut' }
  const value = parsedJson(response.body)
  if (value !== undefined) return { value }
  return { form: /^\s*<(?:!doctype|html|head|body)\b/i.test(response.body) ? 'page' : 'other' }
}

const letters = (name: string): string => name.replaceAll(/[\s._-]/g, '').toLowerCase()
const statuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 503, 507]

function isMisspelt(tpe: string): boolean {
  const named = statuses.flatMap((status) => codeNames(status) ?? [])
  const codes = [...named, ...modelErrors, 'GuardrailBlockedError']
  return !codes.includes(tpe) && codes.some((name) => letters(name) === letters(tpe))
}

function or(values: readonly (number | string)[]): string {
  return [...new Set(values)].join(' or ')
}
