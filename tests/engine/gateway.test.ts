import { describe, expect, test } from 'vitest'
import type { Report } from '../../schemas/report.ts'
import { gatewayResponseOf, type Way } from '../../harness/client/liveness.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import { responseOf } from '../support/response.ts'
import { base, error, html, json, judgeBehind, type Reply } from './behind.ts'

/** What a run says of a target that something in front of it, or its own state, makes answer otherwise. */

const away = 'the service is down or still starting: '
const start = '; check the base URL, or wait for it with --wait <ms>'
const ownPage = 'this looks like a website, not the API: '
const asks =
  'check the base URL, or declare what the page asks for in headers of the target file (--header)'
const logIn =
  'use that address in the base URL, or, if it is a login page, declare a session, for example a cookie, in headers of the target file (--header)'

const redirect = (location: string, status = 302): Response =>
  new Response(null, { status, headers: { location } })

test.each<[string, () => Response, string]>([
  [
    'a bad gateway',
    () => html(502, '502 Bad Gateway'),
    `${away}502 with a page: 502 Bad Gateway, nginx/1.22.1${start}`,
  ],
  [
    'a service that loads',
    () => error(503, 'ServiceUnavailable'),
    `${away}503 ServiceUnavailable${start}`,
  ],
  [
    'a service that loads, in words of its own',
    () => json(503, { error: { message: 'Loading model' } }),
    `${away}503 {"error":{"message":"Loading model"}}${start}`,
  ],
  [
    'a path that the gateway does not have',
    () => html(404, '404 Not Found', 'nginx'),
    `${ownPage}404 with a page: 404 Not Found, nginx; ${asks}`,
  ],
  [
    'a password',
    () =>
      html(401, '401 Authorization Required', 'nginx', {
        'www-authenticate': 'Basic realm="staging"',
      }),
    'a gateway asks for a credential of its own (WWW-Authenticate: Basic): declare it in headers of the target file (--header), or exempt the suite (401 with a page: 401 Authorization Required, nginx)',
  ],
  [
    'a log-in',
    () => redirect('https://login.example/start?rd=x'),
    `it redirects to https://login.example/start: ${logIn} (302 to https://login.example/start)`,
  ],
  [
    'https on the same host, in an envelope',
    () =>
      json(
        308,
        { tpe: 'Moved', errors: [], extras: {} },
        { location: 'https://target.example/base/v1/files' },
      ),
    'it redirects to https: use https://target.example/base (308 Moved)',
  ],
  [
    'a log-in page',
    () =>
      new Response('<html><title>Sign in</title><p>Sign in to Example</html>', {
        headers: { 'content-type': 'text/html' },
      }),
    `${ownPage}200 with a page: Sign in, Sign in to Example; ${asks}`,
  ],
  [
    'a challenge',
    () => new Response('<!doctype html><title>Just a moment...</title>', { status: 403 }),
    `${ownPage}403 with a page: Just a moment...; ${asks}`,
  ],
])('%s is no verdict', async (_, reply, sentence) => {
  const { code, report, failed, passed, terminal, tookMs } = await judgeBehind(() => reply())
  expect(code).toBe(3)
  expect(report.verdict).toBe('not-judged')
  expect(report.exit.because).toBe(`${base} cannot be judged: ${sentence}`)
  expect([...failed, ...passed]).toEqual([])
  expect(terminal().split('\n')[2]).not.toContain('✗')
  expect(tookMs).toBeLessThan(12_000)
})

test.each([
  ['http:', 'envoy', true],
  // A tunnel's answers are the target's.
  ['https:', 'envoy', false],
  ['http:', undefined, false],
])(
  'a bare 403 from an %s target through the proxy %s is the proxy’s: %s',
  (scheme, host, isOfProxy) => {
    const body = 'RBAC: access denied'
    const exchange = {
      response: responseOf(403, body),
      recorded: () => ({ response: { headers: {}, body } }),
    } as unknown as Exchange
    const proxy = host === undefined ? undefined : { host, variable: 'HTTP_PROXY', origin: '' }
    const way = { baseUrl: `${scheme}//target.example`, tls: {} as Way['tls'], proxy }
    expect(gatewayResponseOf(exchange, way)?.sentence).toBe(
      isOfProxy
        ? 'nothing gets through: 403, but the body is not JSON: RBAC: access denied; it came through the proxy envoy (HTTP_PROXY); NO_PROXY=target.example bypasses it'
        : undefined,
    )
  },
)

test('a base URL that ends in /v1 is no verdict, and nothing else is said to be wrong; a service below it is judged', async () => {
  const judge = (reply: Reply) =>
    judgeBehind(reply, { only: ['files.*/2*'], baseUrl: `${base}/v1` })
  const { code, report, terminal } = await judge(() => error(404, 'NotFound'))
  expect(code).toBe(3)
  expect(report.exit.because).toBe(
    `${base}/v1 cannot be judged: the base URL ends in /v1, but the paths of the interface already begin with /v1: remove it (404 NotFound)`,
  )
  expect(terminal()).not.toMatch(/check resources|Likely/)
  expect((await judge((_, answer) => answer())).passed).toContain('files.list/2xx-accepted')
})

/** That answers in place of the first path that is asked for, and of no other. */
const atFiles =
  (instead: (path: string) => Response): Reply =>
  (path, answer) =>
    path.endsWith('/v1/files') ? instead(path) : answer()

test.each<[string, Reply]>([
  [
    'starts meanwhile',
    (_, answer, sinceMs) => (sinceMs < 7000 ? html(502, '502 Bad Gateway') : answer()),
  ],
  ['does not serve that one path', atFiles(() => html(404, '404 Not Found'))],
  ['wants a slash at the end of a path', atFiles((path) => redirect(`${path}/`, 307))],
  ['answers its own envelope', atFiles(() => error(503, 'ServiceUnavailable'))],
  [
    'answers a page of its own',
    atFiles(() => new Response('<html><body>Cannot GET</body></html>', { status: 404 })),
  ],
])('a service that %s is judged', async (name, reply) => {
  const { passed } = await judgeBehind(reply)
  expect(passed).toContain('files.retrieve/2xx-accepted')
  // What a gateway said before the service was there is not held against the service.
  if (name === 'starts meanwhile') expect(passed).toContain('envelope/shape')
})

const pages: [string, () => Response][] = [
  ['redirects to a log-in', () => redirect('https://login.example/start')],
  ['answers with a log-in page', () => html(200, 'Sign in')],
]

test.each(pages)(
  'a gateway that %s from the middle of a run on ends it, and nothing fails for that',
  async (_, instead) => {
    let sent = 0
    const { code, report, failed } = await judgeBehind((_path, answer) =>
      ++sent > 60 ? instead() : answer(),
    )
    expect(failed).toEqual([])
    expect(code).toBe(3)
    expect(report.exit.because).toMatch(
      /^the target stopped answering: (it redirects to https:\/\/login|this looks like a website)/,
    )
  },
)

test.each(pages)('an operation that %s fails, and no other', async (_, instead) => {
  const id = 'translate.run/2xx-accepted'
  const { of, run } = await judgeBehind(
    (path, answer) => (path.endsWith('/v1/translate') ? instead() : answer()),
    { only: [id, 'files.list/*'] },
  )
  expect(run.client.life.ended).toBeUndefined()
  expect(of('files.list/2xx-accepted').outcome).toBe('passed')
  expect(of(id).outcome).toBe(instead().status === 200 ? 'passed' : 'failed')
})

test('an error of a gateway now and then is no matter of what was sent', async () => {
  const id = 'translate.run/bad-input-no-5xx'
  const asked = [
    'applications.create/400-duplicate-name',
    'envelope/bad-input-no-5xx',
    'graphs.add-file/409-already-in-graph',
    'graphs.create/bad-input-no-5xx',
    'jobs.create/202-any-text',
    'jobs.retrieve/200-job',
    id,
  ]
  const behind = (isLost: (sent: number, path: string) => boolean, hasEffect = false) => {
    let sent = 0
    return judgeBehind(
      async (path, answer) => {
        const isError = isLost(++sent, path)
        // Nobody would know of a job, nor wait for its end.
        const isCarriedOut = !isError || (hasEffect && !path.endsWith('/jobs'))
        const own = isCarriedOut ? await answer() : undefined
        return isError || !own ? html(502, '502 Bad Gateway') : own
      },
      { only: asked },
    )
  }
  for (const hasEffect of [false, true]) {
    const { report, code, passed } = await behind((sent) => sent > 1 && sent % 7 === 1, hasEffect)
    expect(code).toBe(0)
    expect(report.run.retried).toBeGreaterThan(5)
    expect(passed.toSorted()).toEqual(asked)
  }
  // What breaks the service each time is.
  let translations = 0
  const broken = await behind((_, path) => path.endsWith('/v1/translate') && ++translations > 3)
  expect(broken.failed).toContain(id)
})

test.each([
  [2, 8],
  [3, 1],
])(
  'one of %d replicas that is down, each asked in turn, is no matter of the service: %d requests at once',
  async (replicas, concurrency) => {
    let asked = 0
    const { failed, run } = await judgeBehind(
      (_, answer) => (asked++ % replicas === 1 ? html(502, '502 Bad Gateway') : answer()),
      {
        only: ['files.*', 'graphs.create/*', 'jobs.create/409-*', 'translate.*', 'envelope/shape'],
        depth: 'quick',
        limits: { concurrency },
      },
    )
    // Clients get these pages, too.
    expect(failed).toEqual(['envelope/shape'])
    expect(run.client.life.ended).toBeUndefined()
  },
)

const only = ['files.*', 'translate.run/4*', 'translate.run/2*', 'envelope/shape']

/** What a target answers is changed from that status on. */
const judgeChanged = (change: (status: number) => Response, skip: string[] = []) =>
  judgeBehind(
    async (_, answer) => {
      const own = await answer()
      return own.status >= 400 ? change(own.status) : own
    },
    { only, skip, depth: 'quick' },
  )

test('pages and JSON in place of envelopes are shown as what they are; a wrong name or status is not told as none', async () => {
  const told = /; the status is right, but this is not an error envelope: see envelope\/shape$/
  const bareIn = ({ requirements }: Report) =>
    requirements.filter(({ failures }) => failures.some(({ actual }) => told.test(actual)))
  // Which error comes first is a matter of chance: all of them are refusals.
  const pages = await judgeChanged((status) => html(status, `${status} No`), ['*/5*', '*/429-*'])
  expect(pages.of('envelope/shape').failures[0]?.actual).toMatch(
    /^4\d\d with a page: 4\d\d No, nginx\/1\.22\.1$/,
  )
  const bodies = await judgeChanged((status) => json(status, { detail: 'no' }))
  for (const { report } of [pages, bodies]) expect(bareIn(report).length).toBeGreaterThan(4)
  expect(bareIn((await judgeChanged(() => error(418, 'Teapot'))).report)).toEqual([])
})

/** The run is reported as it is on a terminal. */
const terminalOf = async (reply: Reply, asked?: string[]): Promise<string> =>
  (await judgeBehind(reply, { backoffMs: 250, ...(asked && { only: asked }) })).terminal()
const textOf = async (request: Request): Promise<string> =>
  Buffer.from(await request.arrayBuffer()).toString()
const idMade = async (request: Request, response: Response): Promise<string | undefined> => {
  if (request.method !== 'POST' || response.status >= 300) return undefined
  return ((await response.json().catch(() => ({}))) as { id?: string }).id
}

test('a redirect of every path to the one with a slash is named, and no base URL is blamed', async () => {
  const text = await terminalOf((path, answer) =>
    path.endsWith('/') ? answer() : redirect(`${path}/`, 308),
  )
  expect(text).toMatch(
    /exit 3: .* every path is redirected, and a redirect is not followed: .* 308 to \/base\/v1\//,
  )
  expect(text).not.toMatch(/log-in|base URL/)
})

test('a firewall that blocks a few words is named by its page', async () => {
  const text = await terminalOf(
    async (_, answer, _ms, request) =>
      /"model":(?:\{|\[|true|\d)/.test(await textOf(request))
        ? html(403, 'Request blocked', 'waf')
        : answer(),
    ['completion.create/400-*', 'chat.create/400-unsupported-model', 'envelope/shape'],
  )
  expect(text).toMatch(/cause +HTML page instead of the JSON error envelope$/m)
  expect(text).toMatch(/received .*Request blocked, waf/)
  expect(text).not.toMatch(/status is right|lacks a right/)
})

const made = ['files.*/2*', 'graphs.*/2*', 'applications.create/2*', 'jobs.*/2*']

test('a restart that loses what was created is reported by what is gone, and asks nobody to declare anything', async () => {
  const ids = new Set<string>()
  const text = await terminalOf(async (path, answer, sinceMs, request) => {
    const asked = `${path} ${await textOf(request)}`
    if (sinceMs > 1500 && [...ids].some((id) => asked.includes(id)))
      return error(404, 'ResourceNotFound')
    const response = await answer()
    const id = sinceMs > 1500 ? undefined : await idMade(request, response.clone())
    if (id !== undefined) ids.add(id)
    return response
  }, made)
  expect(text).toMatch(/^ +1\. Keep what is created: look for a restart/m)
  expect(text).not.toMatch(/grant them|declare a request that succeeds/)
})

test('a key that was never accepted may have been removed by a proxy', async () => {
  const text = await terminalOf(() => error(401, 'BadCredentials'))
  expect(text).toMatch(
    /returned 401; if the key is right, a proxy may be removing the Authorization header/,
  )
})

describe('a target that answers every path alike is not judged', () => {
  const text = (status: number) => () => new Response('not here', { status })
  const cannot = (method: string, path: string): Response =>
    new Response(`<!doctype html><pre>Cannot ${method} ${path}</pre>`, {
      status: method === 'GET' ? 404 : 405,
      headers: { 'content-type': 'text/html' },
    })
  test.each<[string, Reply, string]>([
    ['anything', () => json(200, { ok: true }), 'every path gets the same answer'],
    ['nothing', () => new Response(null, { status: 204 }), 'every path gets the same answer'],
    ['a plain 404', text(404), 'every path gets the same answer'],
    ['a plain 500', text(500), 'every path gets the same error'],
    [
      'pages of a framework',
      (path, _, __, { method }) => cannot(method, path),
      'this looks like a website',
    ],
  ])('%s', async (_, reply, words) => {
    const { code, report, terminal } = await judgeBehind(reply, {})
    expect({ code, verdict: report.verdict }).toEqual({ code: 3, verdict: 'not-judged' })
    expect(report.run.requests).toBeLessThan(25)
    expect(terminal()).toContain(words)
  })

  test('one that has built a single operation is', async () => {
    const { of } = await judgeBehind(
      (path, answer, _, { method }) =>
        path.endsWith('/chat/completions') ? answer() : cannot(method, path),
      { only: ['chat.create/2*'] },
    )
    expect(of('chat.create/200-completion').outcome).toBe('passed')
  })

  test.each([404, 501])('one that answers a %i with an envelope is', async (status) => {
    const only = ['chat.*', 'jobs.create/4*', 'files.*/4*']
    const how = { only, depth: 'quick' } as const
    const { report, run } = await judgeBehind(() => error(status, 'NotFound'), how)
    expect(run.client.life.ended).toBeUndefined()
    expect(report.run.hints).toEqual([
      expect.stringMatching(/^no operation of the interface was found: check the base URL/),
    ])
  })
})
