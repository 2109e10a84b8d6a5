import { expect, test } from 'vitest'
import type { Failure, RequirementResult } from '../../harness/report/report-schema.ts'
import { renderCtrf } from '../../reporters/ctrf.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { byCause, idsOf, likelyCauses } from '../../reporters/view/causes.ts'
import { failed, report, result, failure } from '../gates/results.ts'
import { inTerminal, inHtml } from './shown.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { isRefusal } from '../../catalogue/expected.ts'
import { nextSteps } from '../../reporters/view/next-steps.ts'

const groups = (...rows: RequirementResult[]) => byCause(rows).map(idsOf)
const one = (id: string, change: Partial<Failure> = {}) => failed(id, change)

test('failures of several operations that share expectation and answer are one cause', () => {
  expect(groups(one('a.b/401'), one('c.d/401'), one('e.f/401'))).toEqual([
    ['a.b/401', 'c.d/401', 'e.f/401'],
  ])
  const said = (id: string, text: string) => one(id, { actual: `404 NotFound ${text}` })
  expect(groups(said('a.b/401', 'no such job'), said('c.d/401', 'no such file'))).toHaveLength(1)
  const cites = (id: string, told: string) =>
    one(id, { expected: `404 ResourceNotFound${told}`, cites: told })
  expect(groups(cites('a.b/401', ' (§4.2, §7.3)'), cites('c.d/401', ' (§5)'))).toHaveLength(1)
})

test('failures of one operation, or that differ, stand by themselves', () => {
  expect(groups(one('a.b/1'), one('a.b/2'))).toEqual([['a.b/1'], ['a.b/2']])
  expect(groups(one('a.b/1'), one('c.d/1', { expected: '400 BadRequest' }))).toHaveLength(2)
  expect(groups(one('a.b/1'), { ...one('c.d/1'), level: 'should' })).toHaveLength(2)
  const { exchange } = one('x.y/1').failures[0]!
  const other = {
    exchange: { ...exchange!, response: { status: 500, headers: {}, body: '{"tpe":"NotFound"}' } },
  }
  expect(groups(one('a.b/1'), one('c.d/1', other))).toHaveLength(2)
  const plain = (body: string) => ({
    actual: `200 ${body}`,
    toRefuse: true as const,
    exchange: { ...exchange!, response: { status: 200, headers: {}, body } },
  })
  const shape = (body: string) => {
    const { toRefuse: _, ...granted } = plain(body)
    return { ...granted, expected: 'a JSON body that fits', actual: `200, but ${body}` }
  }
  expect(
    groups(one('a.b/1', shape('x is missing')), one('c.d/1', shape('y is missing'))),
  ).toHaveLength(2)
  expect(groups(one('a.b/1', plain('{}')), one('c.d/2', plain('[]')))).toHaveLength(2)
  expect(
    groups(one('a.b/1', plain('{}')), one('c.d/1', plain('[]')), one('e.f/1', other)),
  ).toHaveLength(2)
  expect(
    groups(result('a.b/1', { outcome: 'failed' }), result('c.d/1', { outcome: 'failed' })),
  ).toHaveLength(2)
})

test('what should have been refused and was granted is one cause, whatever the answers say', () => {
  const { exchange } = one('x.y/1').failures[0]!
  const plain = (status: number, body: string) => ({
    actual: `${status} ${body}`,
    ...(status < 300 && { toRefuse: true as const }),
    exchange: { ...exchange!, response: { status, headers: {}, body } },
  })
  const granted = [
    one('a.b/400-nan', plain(200, '{"a":1}')),
    one('c.d/400-nan', plain(201, '{"c":2}')),
  ]
  expect(groups(...granted)).toEqual([['a.b/400-nan', 'c.d/400-nan']])
  expect(groups(...granted, one('e.f/400-other', plain(200, '{}')))).toHaveLength(2)
  const unknown = (id: string, path: string) =>
    one(id, { ...plain(404, `Cannot POST ${path}`), expected: 'a 2xx (§4.5)' })
  expect(
    groups(unknown('a.b/2xx-accepted', '/v1/a'), unknown('c.d/2xx-accepted', '/v1/c')),
  ).toHaveLength(1)
})

test('all that is wrong on reused connections only is one cause, also within one operation', () => {
  const reused = (id: string, text: string) =>
    one(id, { connection: 'reused', actual: `wrong only on a reused connection: ${text}` })
  expect(
    groups(
      reused('a.b/1', '501'),
      one('a.b/3'),
      reused('a.b/2', '400 x'),
      reused('c.d/1', '501 y'),
    ),
  ).toEqual([['a.b/1', 'a.b/2', 'c.d/1'], ['a.b/3']])
})

const ids = Array.from({ length: 14 }, (_, at) => `area-${at}.run/401-missing-credentials`)
const whole = report([...ids.map((id) => one(id)), one('z.z/1', { expected: 'another thing' })])

test('the terminal shows one block, with the list of ids if it is to show all', () => {
  expect(inTerminal(whole)).toMatch(/^✗ area-0\.run\/401-missing-credentials .*/m)
  const text = inTerminal(whole, { isVerbose: true })
  expect(text.match(/^✗ /gm)).toHaveLength(2)
  for (const id of ids) expect(text).toContain(id)
})

test('Markdown and HTML show one row; every id keeps its own entry in the files', async () => {
  const markdown = renderMarkdown(whole)
  expect(markdown.match(/^<details( open)?>/gm)).toHaveLength(2)
  expect(markdown).toContain('and 13 more</summary>')
  for (const id of ids) expect(markdown).toContain(`\`${id}\``)
  const html = await inHtml(whole)
  const from = html.indexOf('<ol class="failures">')
  const list = html.slice(from, html.indexOf('</ol>', from))
  expect(list.match(/<li>/g)).toHaveLength(2)
  for (const id of ids) {
    expect(list).toContain(`>${id}</a>`)
    expect(html).toContain(`<details class="r f" id="${id}"`)
  }
  expect(list).not.toContain('<details')
  const many = report(Array.from({ length: 22 }, (_, at) => one(`area-${at}.run/401-expired-key`)))
  expect(await inHtml(many)).toMatch(
    /<details class="fold"><summary>Same for 21 more<\/summary><p><a class="mono" href="#area-1.run/,
  )
  expect(renderJunit(whole).match(/<failure /g)).toHaveLength(15)
  expect(renderCtrf(whole).match(/"status": "failed"/g)).toHaveLength(15)
})

/** An answer to each refusal of the catalogue: the status and the name that it asks for, and what becomes of them. */
type Answering = (status: number, tpe: string) => Partial<Answer> | null

interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly text?: string
  readonly headers?: Record<string, string>
}

function failing(answering: Answering, only = /./): RequirementResult[] {
  return catalogue.flatMap(({ expects, id }) => {
    const [status, tpe = 'BadRequest'] = isRefusal(expects) ? expects[0]! : []
    if (typeof status !== 'number' || !only.test(id)) return []
    const answer = answering(status, tpe)
    return answer === null ? [] : [failed(id, answered({ status, ...answer }))]
  })
}

function answered({ body, headers = {}, status, text }: Answer): Partial<Failure> {
  const { exchange } = failure()
  const response = { status, headers, body: text ?? JSON.stringify(body) }
  return { exchange: { ...exchange!, response } }
}

const envelope = (tpe: string) => ({ tpe, errors: [], extras: {} })
const said = (results: RequirementResult[]) => likelyCauses(results).map(({ what }) => what)

const lower = failing((_, tpe) => ({ body: envelope(tpe.toLowerCase()) }))

test.each<[string, RequirementResult[], RegExp]>([
  ['lower case', lower, /^tpe in lower case: \w+ for \w+, .*, and \d+ more$/],
  [
    'other separators',
    failing((_, tpe) => ({ body: envelope(tpe.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&')) })),
    /^tpe in another spelling: Bad_Credentials for BadCredentials, /,
  ],
  [
    'errors of another form',
    failing((_, tpe) => ({ body: { error: tpe, message: 'm' } })),
    /^no error envelope, but the right status: the body has error, message instead$/,
  ],
  [
    'pages of a gateway',
    failing(
      () => ({ status: 403, text: '<!doctype html><title>Request blocked</title>' }),
      /^translate/,
    ),
    /^HTML page instead of the JSON error envelope: 403 Request blocked$/,
  ],
  [
    'redirects',
    failing(() => ({ status: 308, text: '' }), /^translate/),
    /^requests are redirected: 308$/,
  ],
  ['nothing', failing(() => ({ text: '' })), /there is no body$/],
  [
    'a member',
    failing((_, tpe) => ({ body: { tpe, errors: [] } })),
    /^extras missing in error envelopes$/,
  ],
  [
    'everything alike',
    failing(() => ({ status: 418, body: envelope('InternalError') })),
    /^nearly everything gets the same answer: 418 InternalError$/,
  ],
  [
    'a cache that looks at no key',
    failing(
      (status) => ({ status: 200, body: { status } }),
      /^(?:jobs\.retrieve|files\.(?:list|retrieve))\//,
    ),
    /^much of jobs\.retrieve, files\.list, files\.retrieve gets the same answer: 200$/,
  ],
  [
    'another status',
    failing((status, tpe) => (status === 400 ? { status: 422, body: envelope(tpe) } : null)),
    /^422 returned, but 400 is right/,
  ],
  [
    'another name',
    failing((_, tpe) => (tpe === 'ResourceNotFound' ? { body: envelope('NotFound') } : null)),
    /^tpe is NotFound, but should be ResourceNotFound/,
  ],
  [
    'no key is needed',
    failing((status) => (status === 401 ? { status: 200, body: {} } : null)),
    /^requests without a valid key are accepted$/,
  ],
  [
    'no job ends',
    [
      failed(
        'jobs.retrieve/200-outcome',
        answered({ status: 200, body: { status: 'in_progress' } }),
      ),
    ],
    /^no job ends/,
  ],
  [
    'an unknown status',
    [
      failed(
        'jobs.retrieve/200-outcome',
        answered({ status: 200, body: { status: 'fa\u0131led' } }),
      ),
    ],
    /^jobs have a status that the spec does not know$/,
  ],
  [
    'only some are granted',
    failing((status) => (status === 401 ? { status: 200, body: {} } : null)).map((result) => ({
      ...result,
      cases: 2,
    })),
    /^some requests without a valid key are accepted: see \S+, \S+, \S+, and \d+ more$/,
  ],
])('%s', (_, results, what) => {
  expect(results.length).toBeGreaterThan(0)
  expect(said(results)[0]).toMatch(what)
  expect(likelyCauses(results)[0]!.results.length).toBeGreaterThan(results.length / 2)
})

test('a single item has no cause, and what a body that was cut held is not guessed', () => {
  expect(said(lower.slice(0, 2))).toEqual([])
  const cut = failing(() => ({ text: '{"tpe": "BadRe' }), /^jobs\.create\/400-/)
  for (const { failures } of cut) failures[0]!.exchange!.response!.bodyLength = 20_000
  expect(said(cut)).toEqual([])
})

test('a cause is one failure in every front', async () => {
  const of = report(lower)
  const text = inTerminal(of)
  expect(text).toContain(`\n✗ ${lower.length} × tpe in lower case: `)
  expect(text.match(/^✗ /gm)).toHaveLength(1)
  expect(text).toContain(`\n  1. tpe in lower case: `)
  expect(renderMarkdown(of)).toContain('| tpe in lower case: ')
  expect(await inHtml(of)).toContain('<li><p class="cause">tpe in lower case: ')
})

test('--verbose shows every failure', () => {
  const text = inTerminal(report(lower.slice(0, 40)), {
    isVerbose: true,
  })
  for (const { id } of lower.slice(0, 40)) expect(text).toContain(id)
})

test.each<[string, number, string, RegExp]>([
  [
    'a body that a gateway refuses',
    413,
    '<html>too large',
    /^raise the body limit of the server or the proxy/,
  ],
  [
    'a path that is not served',
    404,
    '<html>none',
    /^build these operations, or declare them not-served/,
  ],
])('what to change is said of valid requests that get %s', (_, status, text, change) => {
  const granted = [
    'files.list/2xx-accepted',
    'translate.run/2xx-accepted',
    'vision.analyze/2xx-accepted',
  ]
  const results = granted.map((id) => failed(id, answered({ status, text })))
  expect(likelyCauses(results).map(({ change }) => change)).toEqual([expect.stringMatching(change)])
})

test('a breakdown of everything is not told as errors whose status is right', () => {
  const results = ['shape', 'content-type', 'unsupported-method'].map((id) =>
    failed(`envelope/${id}`, answered({ status: 504, text: '<html>Gateway Time-out' })),
  )
  expect(said(results)).toEqual([])
})

const broken = failing(() => ({ status: 500, body: envelope('InternalError') }))

test('nearly everything is said of nearly all answers of a run, granted ones counted', () => {
  const whatOf = (times: number) =>
    likelyCauses(broken, {
      run: {
        statuses: [
          { status: 200, times: 1000 - times },
          { status: 500, times },
        ],
      },
      requirements: broken,
    })[0]!.what
  expect(whatOf(900)).toBe('nearly everything gets the same answer: 500 InternalError')
  expect(whatOf(150)).toBe('much gets the same answer: 500 InternalError')
})

test.each([
  [500, envelope('InternalError'), 'check the log of the server'],
  [500, { message: 'boom' }, 'check the log of the server'],
  [404, envelope('NotFound'), expect.stringMatching(/^check the base URL, /)],
])(
  'who answers everything with errors of the interface has the right address: %d %j',
  (status, body, change) => {
    expect(likelyCauses(failing(() => ({ status, body })))[0]).toMatchObject({ change })
  },
)

test('one answer to whatever is asked is said only if nearly no other one passed', () => {
  const granted = failing((status) =>
    /^40[034]$/.test(`${status}`) ? { status: 200, body: {} } : null,
  )
  const refusals = failing(() => ({ status: 418 })).filter(
    ({ id }) => !granted.some((one) => one.id === id),
  )
  const causesBeside = (passed: RequirementResult[]) =>
    likelyCauses(granted, { run: {}, requirements: [...granted, ...passed] })
  const some = refusals.slice(0, 8).map(({ id }) => result(id))
  expect(causesBeside(some)[0]!.what).toBe('nearly everything gets the same answer: 200')
  const many = refusals.map(({ id }) => result(id))
  expect(many.length * 4).toBeGreaterThan(granted.length)
  expect(causesBeside(many).map(({ what }) => what)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^requests .* are accepted$/)]),
  )
  expect(causesBeside(many).some(({ what }) => what.includes('same answer'))).toBe(false)
})

test('what fails of operations that are not there is one cause, before all others and once in what is next', () => {
  const absent = ['chat.create', 'translate.run']
  const rows = [failed('chat.create/2xx-accepted', answered({ status: 404, text: '' })), ...lower]
  const half = report(rows, {
    absent: absent.map((operation) => ({ operation, answered: '404 without a body' })),
  })
  const [first, second] = likelyCauses(rows, half)
  expect(first!.what).toBe('not built: chat.create, translate.run')
  expect(first!.results.map(({ operation }) => operation)).toContain('chat.create')
  expect(second!.results.some(({ operation }) => absent.includes(operation))).toBe(false)
  const steps = nextSteps(half).map(({ text }) => text)
  expect(steps[0]).toMatch(/^Build the 2 missing operations /)
  expect(steps.filter((text) => /build/i.test(text))).toHaveLength(1)
})

test('answers that come and go stand before all causes', () => {
  const chance = broken.slice(0, 4).map((result) => ({
    ...result,
    failures: result.failures.map((one) => ({ ...one, takes: 'chance' as const })),
  }))
  const causes = likelyCauses([...chance, ...lower])
  expect(causes.map(({ what }) => what)).toEqual([
    'the answers to one request differ',
    expect.stringMatching(/^tpe in lower case/),
  ])
  expect(causes[0]!.results).toEqual(chance)
})

test('an answer that is wrong on a reused connection alone is no other status in place of the right one', () => {
  const ofKeys = /401-missing-credentials$/
  const plain = failing(() => ({ status: 418, body: envelope('NotImplemented') }), ofKeys)
  expect(said(plain).join()).toContain('418 returned, but 401 is right')
  const reused = plain.map((result) => ({
    ...result,
    failures: result.failures.map((one) => ({ ...one, connection: 'reused' as const })),
  }))
  expect(said(reused)).toEqual([])
})

test('what to do next says of a cause what is seen, then what to change', () => {
  const rows = failing((status) => (status === 401 ? { status: 200 } : null))
  expect(nextSteps(report(rows))[0]!.text).toBe(
    `Requests without a valid key are accepted. Refuse them with 401: ${rows.length} failures`,
  )
})

test.each([
  ['X-Varnish', '32771 3'],
  ['age', '7'],
  ['x-cache', 'Hit from cloudfront'],
  ['cache-status', 'edge; hit'],
  ['CF-Cache-Status', 'HIT'],
])('a cache is named if what it grants to wrong keys has %s: %s', (name, value) => {
  const with200 = (headers: Record<string, string>) =>
    failing((status) => (status === 401 ? { status: 200, headers } : null), /^files/)
  const [cause] = likelyCauses(with200({ via: '1.1 edge', [name]: value }))
  expect(cause).toMatchObject({
    what: 'requests without a valid key are accepted',
    change: `refuse them with 401; a cache answers, as the header ${name.toLowerCase()} shows: make it respect the key, or turn it off`,
  })
  const fresh = { via: '1.1 edge', age: '0', 'x-varnish': '3', 'x-cache': 'MISS' }
  expect(likelyCauses(with200(fresh))[0]!.change).toBe('refuse them with 401')
})
