/** What answers a request, as a table of what came: no server, no clock. */
import { expect, test } from 'vitest'
import type { Exchange, Probe } from '../../harness/journal/exchange.ts'
import { responseOf } from '../support/response.ts'
import { answerTo, sentFor } from '../../harness/journal/answer.ts'
import type { Ask, Known } from '../../harness/journal/journal.ts'

const probe: Probe = {
  operation: 'translate.run',
  method: 'POST',
  path: '/v1/translate',
  params: { id: 'made' },
  query: {},
  headers: [],
  credential: { shown: 'Bearer key', full: true },
  effect: 'none',
}
const request: Ask = {
  name: 'a refusal',
  source: probe,
  purpose: {
    requirement: 'translate.run/400-empty-text',
    role: 'probe',
    expects: [[400, 'BadRequest']],
  },
}
const control: Ask = {
  name: 'control',
  source: probe,
  purpose: { requirement: null, role: 'control' },
}
const before = {
  probe,
  purpose: control.purpose,
  request: { method: 'GET', path: '', headers: [] },
}

const names: Readonly<Record<number, string>> = {
  200: '',
  400: 'BadRequest',
  403: 'GuardrailBlockedError',
  404: 'ResourceNotFound',
  500: 'InternalError',
}

/** `500`; `again`: on a connection that was used before; `keyless`: so, without a key; `shared`: so, for another
 * requirement; `made`: so, for
 * something to be created; `fresh`, `after`: asked for so;
 * `unique`: another one may be sent in its place. */
function entryOf(line: string, at: number) {
  const [word = '', how = ''] = line.split(' ').toReversed()
  const status = Number(word)
  const body = status === 200 ? {} : { tpe: names[status], errors: [], extras: {} }
  const times = { sentAt: at * 1000, endedAt: at * 1000 + 1 }
  const ask: Ask = {
    ...request,
    ...(how === 'fresh' && { once: true, fresh: true }),
    ...(how === 'after' && { once: true, after: control }),
    ...(how === 'unique' && { otherwise: probe }),
  }
  const { credential } = probe
  const isKeyless = how === 'keyless'
  const exchange: Exchange = {
    probe: {
      ...probe,
      ...(isKeyless && { credential: { ...credential, full: false } }),
      ...(how === 'made' && { operation: 'graphs.create' }),
    },
    purpose: how === 'shared' ? { ...request.purpose, expects: [['no-5xx']] } : request.purpose,
    throttled: false,
    response: responseOf(status, JSON.stringify(body)),
    recorded: () => ({ request: { method: '', url: '', headers: {}, body: '' }, curl: '' }),
    ...(['again', 'keyless', 'shared', 'made', 'after'].includes(how) && {
      previousRequest: before,
    }),
    ...times,
  }
  return { ask, exchange }
}

const known: Known = {
  settleMs: 5000,
  madeAt: new Map(),
  wrongAnywhere: new Set(),
  spoilers: new Set(),
}

function told(story: string, more: Partial<Known> = {}, ask = request): string {
  const lines = story.split(', ').filter(Boolean)
  const conclusion = answerTo(ask, lines.map(entryOf), { ...known, ...more })
  if ('answer' in conclusion) {
    const { answer, blames } = conclusion
    const remark = blames ? ', the one before is to blame' : ''
    return `${answer.response?.status}${remark}${answer.finding ? `, ${answer.finding.kind}` : ''}`
  }
  const [{ fresh, after, pauseMs }] = conclusion.asks
  const how = fresh ? 'fresh' : after ? 'after' : 'ask'
  return pauseMs === undefined ? how : `${how} ${pauseMs}`
}

const madeAt = new Map([['made', -1000]])

test.each<[what: string, story: string, expected: string, known?: Partial<Known>]>([
  ['not sent', '', 'ask'],
  ['right', '400', '400'],
  ['wrong on a connection of its own', '500', '500'],
  ['wrong behind another request', 'again 500', 'fresh'],
  ['wrong, though not for what sent it', 'shared 404', 'fresh'],
  ['created by mistake, and there from now on', 'made 200', '200'],
  ['wrong there too', 'again 500, fresh 500', '500'],
  [
    'known to be wrong anywhere',
    'again 500',
    '500',
    { wrongAnywhere: new Set(['translate.run/400-empty-text 500']) },
  ],
  ['right there: is it wrong behind the same one?', 'again 500, fresh 400', 'after'],
  [
    'served without a key behind it each time',
    `keyless 200, fresh 400${', after 200'.repeat(4)}`,
    '200, remembers-key',
  ],
  ['served without a key now and then', 'keyless 200, fresh 400, after 400', '200, answers-differ'],
  ['right behind it', 'again 500, fresh 400, after 400', '500, answers-differ'],
  ['wrong behind it: is it right without?', 'again 500, fresh 400, after 500, after 500', 'fresh'],
  [
    'wrong behind it three times, which may be chance',
    'again 500, fresh 400, after 500, after 500, fresh 400, after 500',
    'after',
  ],
  [
    'wrong behind what is known to spoil its connection',
    'again 500, fresh 400, after 500, after 500, fresh 400, after 500',
    '400, the one before is to blame',
    { spoilers: new Set([sentFor(before)]) },
  ],
  [
    'wrong behind it each time',
    `again 500${', fresh 400, after 500, after 500'.repeat(4)}`,
    '400, the one before is to blame',
  ],
  ['a guardrail met it', '403', 'ask'],
  ['a guardrail met it once', '403, 403, 400', '400'],
  ['a guardrail meets it each time', Array(8).fill('403').join(), '403'],
  ['what it names was just made', '404', 'ask 1000', { madeAt }],
  ['and is there a second later', '404, 400', '400', { madeAt }],
  ['and is not there in time', '404, 404, 404, 404, 404', '404', { madeAt }],
])('%s', (_, story, expected, more) => {
  expect(told(story.replaceAll(/,(?! )/g, ', '), more)).toBe(expected)
})

const isGood = ({ response }: Exchange): boolean => response?.status === 400
const settles = { settles: { since: 0, isGood } }
const plain = { purpose: control.purpose, otherwise: probe }

test.each<[what: string, story: string, expected: string, how: Partial<Ask>]>([
  ['what was just made shows at once', '400', '400', settles],
  ['it does not show yet', '200', 'ask 1000', settles],
  ['it shows a second later', '200, 400', '400', settles],
  ['it does not show then, either', '200, 200', 'ask 5000', settles],
  ['it does not show in time', `200${', 200'.repeat(5)}`, '200', settles],
  ['its connection may have spoiled the answer', 'again 500', 'fresh', settles],
  [
    'nor in time, and its connection is spoiled',
    `again 500${', fresh 400, after 500, after 500'.repeat(4)}`,
    '400, the one before is to blame',
    { settles: { since: 0, isGood: () => false } },
  ],
  [
    'a later answer is wrong: the connection of an earlier one says nothing about its own',
    `again 500${', fresh 400, after 500, after 500'.repeat(4)}, again 500`,
    'fresh',
    { settles: { since: 1e6, isGood: () => false } },
  ],
  ['content that is unique is refused: another one is sent', 'unique 400', 'ask', plain],
  ['that is accepted', 'unique 400, 200', '200', plain],
  ['that is refused, too', 'unique 400, 400', '400', plain],
  ['unique content is refused for another reason', 'unique 404', '404', plain],
])('%s', (_, story, expected, how) => {
  expect(told(story, {}, { ...request, ...how })).toBe(expected)
})
