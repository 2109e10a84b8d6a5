import { count } from '../../harness/report/count.ts'
import { preview } from '../../schemas/preview.ts'
import type { ClientFault, ClientReport, ErrorCondition } from '../../traffic/client/client-report.ts'
import type { Expected, MemberFault } from '../../traffic/client/member-faults.ts'
import type { Played } from '../../traffic/client/script.ts'

/** A fault in words: what the interface shows, and what came. */
export interface FaultText {
  readonly expected: string
  readonly received: string
}

type Rule = ClientFault['rule']
type Texts = { readonly [R in Rule]: (fault: Extract<ClientFault, { rule: R }>) => FaultText }

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

const texts: Texts = {
  path: ({ hint }) => ({
    expected: 'a path of the interface (§4)',
    received: `an unknown path${hint === undefined ? '' : `; did you mean ${hint}?`}`,
  }),
  method: ({ shown }) => ({ expected: `${shown.join(' or ')} (§4)`, received: 'another method' }),
  'path-parameter': ({ name, received }) => ({ expected: `${name} is a uuid (§4.3)`, received: preview(received) }),
  query: ({ name, problem }) => ({
    expected: `${name} is one text: extensions without the dot, separated by commas (§2.8)`,
    received: problem === 'dot' ? 'an extension with a dot' : `${name} more than once`,
  }),
  authorization: ({ problem }) => ({
    expected: 'Authorization: Bearer <API_KEY> (§5)',
    received: credentials[problem],
  }),
  'content-type': ({ problem, received }) => ({
    expected:
      problem === 'form' ? 'the file as the body, labelled with its media type (§2.8)' : 'application/json (§4)',
    received: received ?? 'no Content-Type',
  }),
  'content-disposition': ({ received }) => ({ expected: 'attachment; filename="..." (§2.8)', received }),
  body: ({ problem }) => ({ expected: `${bodies[problem][0]} (§4)`, received: bodies[problem][1] }),
  member: memberText,
  'repeated-creation': ({ job }) => ({
    expected: 'one job in progress per application (§8)',
    received: `another creation, answered 409: job ${job} had not been seen to end`,
  }),
  waiting: ({ retryAfter, waitedMs }) => ({
    expected:
      retryAfter === undefined ? 'a pause before the next try (§7.2)' : `a pause of ${retryAfter} s (Retry-After)`,
    received:
      retryAfter === undefined
        ? `the next try after ${waitedMs} ms, twice in a row`
        : `the next try after ${waitedMs} ms`,
  }),
}

export function faultText(fault: ClientFault): FaultText {
  return (texts[fault.rule] as (one: ClientFault) => FaultText)(fault)
}

function memberText({ at, expected, received, section }: MemberFault): FaultText {
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

/** Why the exit code is what it is. */
export function exitText({ exit: { because }, wrong }: ClientReport): string {
  if (because.kind === 'wrong') return `${count(wrong, 'request')} did not keep the interface`
  if (because.kind === 'no-request') return 'no request to an operation of the interface came'
  if (because.kind === 'kept') return 'every request kept the interface'
  const { steps } = because
  return `${count(steps, 'answer')} of the script ${steps === 1 ? 'was' : 'were'} never asked for: whether the client tries again was not seen`
}

export function answersText(answers: ClientReport['operations'][number]['answers']): string {
  return answers.map(({ count: times, status, tpe = '' }) => `${`${status} ${tpe}`.trim()} ×${times}`).join(', ')
}

/** `429 QuotaExceeded`, and what brings it about. */
export function conditionText({ simulate, status, tpe }: ErrorCondition): string {
  return `${status} ${tpe}${simulate === undefined ? '' : ` (x-simulate: ${simulate})`}`
}

export function playedText({ error: { retryAfter, status, tpe }, isTooEarly, operation, waitedMs }: Played): string {
  const asked = `${operation} was answered ${status} ${tpe}${retryAfter === undefined ? '' : `, Retry-After ${retryAfter}`}`
  if (waitedMs === undefined) return `${asked}: the client did not come back`
  return `${asked}: the client came back after ${waitedMs} ms${isTooEarly ? ', which is too early' : ''}`
}
