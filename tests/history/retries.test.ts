/** Whether a request is sent again, and how, as a table of what came: no server, no clock. */
import { expect, test } from 'vitest'
import type { Exchange, Probe } from '../../harness/journal/exchange.ts'
import type { Ask } from '../../harness/journal/journal.ts'
import { maxTries, retryOf } from '../../harness/journal/answer.ts'
import type { HttpResult } from '../../harness/http/message.ts'
import { envelope, lost } from '../engine/networks.ts'
import { responseOf } from '../support/response.ts'

const read: Probe = {
  operation: 'files.list',
  method: 'GET',
  path: '/v1/files',
  params: {},
  query: {},
  headers: [],
  credential: { shown: 'Bearer key', full: true },
  effect: 'none',
}
const probe = { requirement: null, role: 'probe' } as const

/** Kinds of requests. */
const requests: Readonly<Record<string, Partial<Ask>>> = {
  read: {},
  creation: { source: { ...read, effect: 'creates' } },
  'valid creation': {
    source: { ...read, effect: 'creates' },
    purpose: { ...probe, isSuccess: () => true },
  },
  'set-up': { source: { ...read, effect: 'creates' }, purpose: { ...probe, role: 'setup' } },
  'limit expected': { purpose: { ...probe, expects: [[429, 'QuotaExceeded']] } },
  trial: { once: true },
}

const noAnswer: Readonly<Record<string, Partial<Extract<HttpResult, { kind: 'no-answer' }>>>> = {
  reset: {},
  used: {},
  stale: { staleConnection: true },
  hangs: { cause: 'timeout', detail: 'nothing-came' },
  refused: { cause: 'refused', detail: 'nobody-listens' },
}
const names: Readonly<Record<string, string>> = {
  200: '',
  409: 'ResourceConflict',
  429: 'QuotaExceeded',
  503: 'ServiceUnavailable',
}

/** Forms of an expected limit. */
const bodies: Readonly<Record<string, string>> = {
  alike: envelope('TooManyRequests'),
  unread: `\ufeff${envelope('QuotaExceeded')}`,
}

/** `reset`: on a new connection; `used`: on one that was used; `there`, `back`: it was asked whether the target was away. */
function exchangeOf(line: string, ask: Ask): Exchange {
  const [what = '', ...remarks] = line.split(' ')
  const instead = noAnswer[what]
  const before = { probe: read, purpose: probe, request: { method: 'GET', path: '', headers: [] } }
  return {
    probe: ask.source as Probe,
    purpose: ask.purpose,
    throttled: false,
    ...(instead
      ? { noResponse: lost(instead) }
      : {
          response: responseOf(
            Number(what),
            bodies[remarks[0] ?? ''] ?? envelope(names[what] ?? ''),
          ),
        }),
    ...(what === 'used' && { previousRequest: before }),
    isOfGateway: what === '502',
    ...(remarks.includes('there') && { wasAway: false }),
    ...(remarks.includes('back') && { wasAway: true }),
    isOwnLimit: remarks.includes('own'),
    isTooLong: remarks.includes('long'),
    recorded: () => ({ request: { method: '', url: '', headers: {}, body: '' }, curl: '' }),
    sentAt: 0,
    endedAt: 0,
  }
}

function told(kind: string, story: string, proof: number): string {
  const ask: Ask = { source: read, purpose: probe, ...requests[kind] }
  const tries = story.split(', ').map((line) => exchangeOf(line, ask))
  const { next, how, unanswered, isResent } = retryOf(ask, tries, { proof: () => proof })
  const parts: unknown[] = [next]
  if (next === 'again') parts.push(how.fresh && 'fresh', how.alone && 'alone')
  if (next === 'over' && tries.at(-1)!.noResponse && isResent) parts.push('twice')
  if (next === 'over' && unanswered) parts.push(`after ${tries.indexOf(unanswered) + 1}`)
  return parts.filter(Boolean).join(' ')
}

const times = (count: number, line: string): string => Array(count).fill(line).join(', ')

test.each<[kind: string, story: string, expected: string, proof?: number]>([
  ['read', '200', 'over'],
  ['creation', '409', 'over'],
  // Never arrived.
  ['creation', 'stale', 'again fresh'],
  ['trial', 'stale', 'again fresh'],
  ['creation', 'stale, 409', 'over after 1'],
  ['creation', 'stale, 429', 'again fresh'],
  ['creation', 'refused', 'look'],
  ['creation', 'refused there', 'again alone'],
  ['creation', 'refused back, refused back, refused back, refused back', 'over'],
  // Lost: a creation may have had its effect.
  ['creation', 'hangs', 'look'],
  ['creation', 'hangs there', 'over'],
  ['creation', 'hangs back', 'over'],
  ['trial', 'hangs', 'over'],
  ['read', 'hangs', 'again fresh'],
  ['valid creation', 'hangs', 'again fresh'],
  ['set-up', 'hangs', 'again fresh'],
  ['read', 'hangs, hangs', 'look'],
  ['read', 'hangs, hangs there', 'over twice after 1'],
  ['read', 'hangs, hangs back', 'again fresh alone'],
  ['read', 'hangs, hangs', 'again fresh', 3],
  ['read', 'hangs, 200', 'over after 1'],
  ['read', `hangs, ${times(3, 'hangs back')}, hangs back`, 'over twice after 4'],
  // Alone on an open connection, and only then on a new one.
  ['read', 'used', 'again fresh alone'],
  ['read', 'reset', 'again alone'],
  ['read', 'reset, reset', 'look'],
  ['read', 'reset, reset there', 'again fresh alone'],
  ['read', 'reset, reset there, reset there', 'over twice after 2'],
  ['read', 'reset, reset there, reset there', 'again fresh alone', 4],
  // A gateway's answer says as much as none, whatever was sent.
  ['creation', '502', 'look'],
  ['creation', '502 there', 'again alone'],
  ['creation', times(2, '502 there'), 'again alone'],
  ['creation', times(3, '502 there'), 'over after 2'],
  ['creation', times(3, '502 there'), 'again alone', 3],
  ['creation', times(3, '502 back'), 'again alone'],
  ['creation', times(4, '502 back'), 'over after 3'],
  ['creation', '502 there, 409', 'over after 1'],
  // Throttled: alone from the third time on.
  ['creation', '429', 'again'],
  ['creation', '503, 503', 'again alone'],
  ['read', times(maxTries, '429'), 'again alone'],
  ['read', times(maxTries + 1, '429'), 'over'],
  ['read', '429 long', 'over'],
  ['trial', '429', 'over'],
  ['limit expected', '429', 'over'],
  ['limit expected', '503, 503', 'again alone'],
  // A limit in another form is soon taken as the expected one, unless it limits others as well.
  ['limit expected', '429 alike, 429 unread', 'again alone'],
  ['limit expected', times(3, '429 alike'), 'over'],
  ['limit expected', times(3, '429 unread'), 'over'],
  ['limit expected', times(3, '429 alike own'), 'again alone'],
  ['read', 'hangs, 429', 'again fresh'],
])('%s: %s: %s', (kind, story, expected, proof = 2) => {
  expect(told(kind, story, proof)).toBe(expected)
})
