import type { OperationId } from '../../catalogue/operations.ts'
import { preview } from '../../schemas/json.ts'
import type { RequestRemark, RequestFault } from './request-faults.ts'
import type { Expected, MemberFault } from './member-faults.ts'
import { type Redactor, shownText } from '../../harness/recording/index.ts'
import { headerValue } from '../../harness/http/index.ts'
import type { RecordedEntry } from '../recorded-entry.ts'
import { isPlaceholder } from '../secrets.ts'
import type { Call } from './retries.ts'

/** What a client does wrong or badly: in a request, or in the way in which requests follow each other. */
export type ClientFault =
  | RequestFault
  | RequestRemark
  | JobRemark
  /** A path outside `/v1`, where the interface has one of that name. */
  | { readonly rule: 'outside'; readonly hint: string }
  /** The server refused it, and nobody had asked for that. */
  | {
      readonly rule: 'refused'
      readonly status: number
      readonly tpe: string | undefined
      /** The reason that the answer gives. */
      readonly reason: string | undefined
    }
  /** It came back before `Retry-After` (s) was over; without one, so many times at once. `waitedMs` is the sum. */
  | {
      readonly rule: 'waiting'
      readonly retryAfter: number | undefined
      readonly waitedMs: number
      readonly times: number
    }
  /** The pauses before its tries were all alike. */
  | { readonly rule: 'even-pauses'; readonly waitedMs: readonly number[] }
  /** A POST was sent again after its answer was lost: the server may have carried it out. */
  | { readonly rule: 'sent-twice' }
  /** It was sent again unchanged after an answer that says that it is wrong. */
  | { readonly rule: 'sent-unchanged'; readonly status: number }

/** What a client does badly with jobs. */
export type JobRemark =
  /** §8: a job was in progress, perhaps the one that is named, and the client did not wait. */
  | {
      readonly rule: 'repeated-creation'
      readonly job: string | undefined
      readonly waitedMs: number | undefined
    }
  | { readonly rule: 'polling'; readonly readings: number }
  | { readonly rule: 'unread-job' }
  | { readonly rule: 'ended-job'; readonly status: string }

/** A finding, told once; the same one again is counted. */
export interface ClientFinding {
  /** A fault is what the interface excludes, or what a server refused; a remark is legal, and bad. */
  readonly kind: 'fault' | 'remark'
  /** Number of the first request that showed it, from 1. */
  readonly request: number
  readonly operation: OperationId | null
  readonly method: string
  readonly path: string
  readonly fault: ClientFault
  count: number
}

/** A finding in words: what the interface shows, and what came. */
export interface FindingText {
  readonly expected: string
  readonly received: string
}

type Rule = ClientFault['rule']
type Texts = { readonly [R in Rule]: (fault: Extract<ClientFault, { rule: R }>) => FindingText }

const bodies = {
  absent: ['a JSON object as the body', 'no body'],
  'not-json': ['JSON', 'a body that is no JSON'],
  'not-utf-8': ['JSON in UTF-8', 'a body that is not UTF-8'],
  unexpected: ['no body', 'a body'],
} as const

const credentials = {
  absent: 'no Authorization header',
  'other-scheme': 'an Authorization header of another scheme',
  'no-key': 'no key after Bearer, or the name of a value that is not set',
} as const

const queries = {
  dot: 'an extension with a dot',
  repeated: 'the member more than once',
  other: 'what is no list of extensions',
} as const

const texts: Texts = {
  path: ({ hint }) => ({
    expected: 'a path of the interface (§4)',
    received: `an unknown path${hint === undefined ? '' : `; did you mean ${hint}?`}`,
  }),
  outside: ({ hint }) => ({
    expected: 'a path of the interface begins with /v1 (§9)',
    received: `a path outside; did you mean ${hint}?`,
  }),
  method: ({ shown }) => ({ expected: `${shown.join(' or ')} (§4)`, received: 'another method' }),
  'path-parameter': ({ name, problem, received }) => ({
    expected: problem === 'not-uuid' ? `${name} is a uuid (§4.3)` : `${name} is an id (§4)`,
    received:
      problem === 'not-uuid'
        ? preview(received)
        : `${preview(received)}, the name of a value that is not set`,
  }),
  query: ({ name, problem }) => ({
    expected: `${name} is one text: extensions without the dot, separated by commas (§2.8)`,
    received: queries[problem],
  }),
  authorization: ({ problem }) => ({
    expected: 'Authorization: Bearer <API_KEY> (§5)',
    received: credentials[problem],
  }),
  'content-type': ({ problem, received }) => ({
    expected:
      problem === 'form'
        ? 'the file as the body, labelled with its media type (§2.8)'
        : 'application/json (§4)',
    received: received ?? 'no Content-Type',
  }),
  'content-disposition': ({ received }) => ({
    expected: 'attachment; filename="..." (§2.8)',
    received,
  }),
  'no-attachment': () => ({
    expected: 'Content-Disposition: attachment; filename="..." (§2.8)',
    received: 'no Content-Disposition',
  }),
  body: ({ problem }) => ({ expected: `${bodies[problem][0]} (§4)`, received: bodies[problem][1] }),
  member: memberText,
  recommended: ({ at, received }) => ({
    expected: `${at} from 5 to 25, as is recommended (§2.7)`,
    received: String(received),
  }),
  'no-variable': ({ name }) => ({
    expected: `a variable for each {{name}} of the prompt (§2.8)`,
    received: `no variable ${preview(name)}`,
  }),
  refused: ({ reason, status, tpe }) => ({
    expected: 'a request that is granted, or a refusal that somebody asked for',
    received: `${[status, tpe].filter((one) => one !== undefined).join(' ')}${reason === undefined ? '' : `: ${reason}`}`,
  }),
  'repeated-creation': ({ job, waitedMs }) => ({
    expected: 'a pause until the job in progress has ended: one per application (§8)',
    received:
      (waitedMs === undefined
        ? 'a creation, answered 409, that did not come again'
        : `the same creation ${Math.round(waitedMs)} ms after a 409`) +
      (job === undefined ? '' : `; job ${job} had not been seen to end`),
  }),
  waiting: ({ retryAfter, times, waitedMs }) => ({
    expected:
      retryAfter === undefined
        ? 'a pause before the next try (§7.2)'
        : `a pause of ${retryAfter} s (Retry-After)`,
    received:
      times === 1
        ? `the next try after ${waitedMs} ms`
        : `${times} tries, most of them at once: ${waitedMs} ms between them in all`,
  }),
  'even-pauses': ({ waitedMs }) => ({
    expected: 'pauses that grow (§7.2)',
    received: `pauses of ${waitedMs.join(', ')} ms`,
  }),
  'sent-twice': () => ({
    expected: 'a look at what became of the first, if that is possible',
    received: 'a POST again, after its answer was lost: the server may have carried out both',
  }),
  'sent-unchanged': ({ status }) => ({
    expected: `another request: ${status} says that this one is wrong (§7.2)`,
    received: 'the same request again',
  }),
  polling: ({ readings }) => ({
    expected: 'a pause between two readings of a job in progress',
    received: `${readings} readings, most of them at once`,
  }),
  'unread-job': () => ({
    expected: 'the outcome of a job is read (§6)',
    received: 'no reading of the job',
  }),
  'ended-job': ({ status }) => ({
    expected: 'no more readings of a job that has ended',
    received: `further readings of a job that was seen as ${status}`,
  }),
}

export function findingText(fault: ClientFault): FindingText {
  return (texts[fault.rule] as (one: ClientFault) => FindingText)(fault)
}

function memberText({ at, expected, received, section }: MemberFault): FindingText {
  const name = at === '' ? 'the body' : at
  return {
    expected: `${name} is ${shapeText(expected)} (§${section})`,
    received: received === undefined ? `no ${name}` : `${received.kind} ${preview(received.value)}`,
  }
}

function shapeText(expected: Expected): string {
  if (expected === 'url') return 'a web address or a data URL'
  if ('values' in expected) return expected.values.join(' or ')
  if ('from' in expected) return `from ${expected.from} to ${expected.to}`
  return expected.kinds.length === 0 ? 'there' : `of type ${expected.kinds.join(' or ')}`
}

/** Key by which two findings are the same: without the ids, which differ each time. */
export function nameOf({ fault, kind, operation, path }: Omit<ClientFinding, 'count'>): string {
  const { rule } = fault
  if (rule === 'member') {
    const { at, expected, received } = fault
    return JSON.stringify([operation, withoutItems(at), received?.kind, expected])
  }
  if (rule === 'recommended') return JSON.stringify([operation, rule, withoutItems(fault.at)])
  if (rule === 'refused') {
    const { reason, status, tpe } = fault
    return JSON.stringify([operation, rule, kind, status, tpe, withoutIds(reason ?? '')])
  }
  if (ofWay.has(rule)) return `${operation} ${rule}`
  return JSON.stringify([operation, ofPath.has(rule) ? withoutIds(path) : '', fault])
}

/** Rules about the way in which requests follow each other: their figures differ each time. */
const ofWay: ReadonlySet<Rule> = new Set([
  ...(['waiting', 'even-pauses', 'sent-twice', 'sent-unchanged'] as const),
  ...(['repeated-creation', 'polling', 'unread-job', 'ended-job'] as const),
])
const ofPath: ReadonlySet<Rule> = new Set(['path', 'method', 'outside'])
const withoutItems = (at: string): string => at.replaceAll(/\/\d+(?=\/|$)/g, '/*')
const withoutIds = (text: string): string => text.replaceAll(/[^/\s]*\d[^/\s]*/g, '*')

/** Most findings that are told apart: a client may be wrong in other words each time. */
const mostTold = 1000

/** Keeps what was found: each is told once, without keys, and counted. */
export function createFindings(redactor: Redactor, onFinding?: (finding: ClientFinding) => void) {
  const findings = new Map<string, ClientFinding>()
  return {
    all: (): ClientFinding[] => [...findings.values()],
    note(kind: ClientFinding['kind'], call: Call, fault: ClientFault): void {
      const { method, n: request, operation, path } = call
      const found = { kind, request, operation, method, path, fault }
      const name = nameOf(found)
      const known = findings.get(name)
      if (known) return void known.count++
      if (findings.size === mostTold) return
      const finding = shown({ ...found, count: 1 }, redactor)
      findings.set(name, finding)
      onFinding?.(finding)
    },
  }
}

/** Cuts what a client sent; it may hold a key. */
function shown(finding: ClientFinding, redactor: Redactor): ClientFinding {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string')
      return shownText(value.slice(0, 300), (text) => redactor.text(text))
    if (Array.isArray(value)) return value.slice(0, 3).map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, 20)
        .map(([name, one]) => [redactor.text(name), clean(one)]),
    )
  }
  return { ...(clean(finding) as ClientFinding), count: finding.count }
}

const ofHeaders = ['authorization', 'content-type', 'content-disposition', 'no-attachment']

/** Whether the entry shows it: recorders leave out headers, and keys. */
export function isKnown(
  fault: ClientFault,
  { requestHeaders, witnessed }: RecordedEntry,
  hasKeys: boolean,
): boolean {
  if (witnessed || !ofHeaders.includes(fault.rule)) return true
  if (requestHeaders.length === 0) return false
  if (fault.rule !== 'authorization') return true
  const credential = headerValue(requestHeaders, 'authorization')
  return credential === undefined ? hasKeys : !isPlaceholder(credential)
}
