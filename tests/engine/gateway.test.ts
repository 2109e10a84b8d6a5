import { expect, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { byCause } from '../../reporters/view/causes.ts'
import { base, error, html, json, judgeBehind, type Reply } from './behind.ts'

/** What a run says of a target that something in front of it, or its own state, makes answer otherwise. */

const away = 'a gateway answered, and not the service behind it: '
const start = '; start the service, or look at where the gateway sends its requests'
const ownPage = 'a gateway answered with a page of its own: '
const asks = 'declare that in headers of the target file (--header)'
const logIn =
  'if that is a log-in, declare what shows that you are logged in, for example a cookie, in headers of the target file'

const redirect = (location: string, status = 302): Response =>
  new Response(null, { status, headers: { location } })

test.each<[string, () => Response, string]>([
  [
    'a bad gateway',
    () => html(502, '502 Bad Gateway'),
    `${away}502 with a page: 502 Bad Gateway, nginx/1.22.1${start}`,
  ],
  [
    'words of a gateway',
    () => new Response('no healthy upstream', { status: 503, headers: { server: 'envoy' } }),
    `${away}503, but the body is not JSON: no healthy upstream, Server: envoy${start}`,
  ],
  [
    'JSON of a gateway',
    () => json(504, { message: 'Endpoint request timed out' }),
    `${away}504 {"message":"Endpoint request timed out"}${start}`,
  ],
  [
    'a path that the gateway does not have',
    () => html(404, '404 Not Found', 'nginx'),
    `${ownPage}404 with a page: 404 Not Found, nginx; check the path of the base URL, and what the gateway serves there`,
  ],
  [
    'a gateway that lets nobody in',
    () => html(403, '403 Forbidden'),
    `${ownPage}403 with a page: 403 Forbidden, nginx/1.22.1; if it asks for something of its own, ${asks}`,
  ],
  [
    'a client certificate that is missing',
    () => html(400, '400 No required SSL certificate was sent'),
    'it asks for a client certificate: declare tls.cert and tls.key in the target file (400 with a page: 400 No required SSL certificate was sent, nginx/1.22.1)',
  ],
  [
    'a client certificate that is not accepted',
    () => html(400, '400 The SSL certificate error'),
    'it does not accept the client certificate in tls.cert of the target file (400 with a page: 400 The SSL certificate error, nginx/1.22.1)',
  ],
  [
    'http on a port of https',
    () => html(400, '400 The plain HTTP request was sent to HTTPS port'),
    'that port speaks TLS: write https://target.example/base (400 with a page: 400 The plain HTTP request was sent to HTTPS port, nginx/1.22.1)',
  ],
  [
    'the same, of Go',
    () => new Response('Client sent an HTTP request to an HTTPS server.\n', { status: 400 }),
    'that port speaks TLS: write https://target.example/base (400, but the body is not JSON: Client sent an HTTP request to an HTTPS server.)',
  ],
  [
    'a password',
    () =>
      html(401, '401 Authorization Required', 'nginx', {
        'www-authenticate': 'Basic realm="staging"',
      }),
    'a gateway asks for a credential of its own (WWW-Authenticate: Basic) in the header that carries the key: let the suite past it, or let it take its credential in another header (401 with a page: 401 Authorization Required, nginx)',
  ],
  [
    'a key of the gateway',
    () =>
      json(
        401,
        { message: 'No API key found in request' },
        { 'www-authenticate': 'Key realm="kong"' },
      ),
    'a gateway asks for a credential of its own (WWW-Authenticate: Key): declare it in headers of the target file (--header) (401 {"message":"No API key found in request"})',
  ],
  [
    'a key of a gateway that has no scheme for it',
    () => json(403, { message: 'Forbidden' }, { 'x-amzn-errortype': 'ForbiddenException' }),
    'a gateway asks for a key of its own: declare it in headers of the target file (--header), for example x-api-key (403 {"message":"Forbidden"})',
  ],
  [
    'a key that a gateway asks for in JSON',
    () => json(401, { message: 'No API key found in request' }),
    'the key is not accepted, and the answer is no error envelope: if a gateway gives it, declare what that asks for in headers of the target file (--header), for example x-api-key (401 {"message":"No API key found in request"})',
  ],
  [
    'a log-in',
    () => redirect('https://login.example/start?rd=x'),
    `the first request is redirected to https://login.example/start: ${logIn} (302 to https://login.example/start)`,
  ],
  [
    'a log-in on the same host',
    () => redirect('/oauth2/start', 307),
    `the first request is redirected to http://target.example/oauth2/start: ${logIn} (307 to /oauth2/start)`,
  ],
  [
    'another address',
    () => redirect('https://eu.target.example/v2/v1/files', 301),
    'it redirects to https://eu.target.example/v2/v1/files: use https://eu.target.example/v2 as the base URL (301 to https://eu.target.example/v2/v1/files)',
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
    'this is a page, not an API: check the base URL; if it is a log-in, declare what shows that you are logged in, for example a cookie, in headers of the target file (200 with a page: Sign in, Sign in to Example)',
  ],
  [
    'a challenge',
    () => new Response('<!doctype html><title>Just a moment...</title>', { status: 403 }),
    `${ownPage}403 with a page: Just a moment...; if it asks for something of its own, ${asks}`,
  ],
  [
    'HTTP/2 alone',
    () => new Response('', { status: 426, headers: { upgrade: 'h2c' } }),
    'it does not take HTTP/1.1, which is what the suite speaks: let the gateway take it too (426 without a body)',
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

test('a base URL that ends in /v1 is no verdict, and nothing else is said to be wrong; a service below it is judged', async () => {
  const judge = (reply: Reply) => judgeBehind(reply, undefined, undefined, `${base}/v1`)
  const { code, report, terminal } = await judge(() => error(404, 'NotFound'))
  expect(code).toBe(3)
  expect(report.exit.because).toBe(
    `${base}/v1 cannot be judged: the base URL ends in /v1, but the paths of the interface begin with /v1 already: leave it out (404 NotFound)`,
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

test('an error of a gateway now and then is no matter of what was sent', async () => {
  const id = 'translate.run/bad-input-no-5xx'
  const asked = [
    'envelope/bad-input-no-5xx',
    'graphs.create/bad-input-no-5xx',
    'jobs.create/202-any-text',
    id,
  ]
  const behind = (isLost: (sent: number, path: string) => boolean) => {
    let sent = 0
    return judgeBehind(
      (path, answer) => (isLost(++sent, path) ? html(502, '502 Bad Gateway') : answer()),
      { only: asked },
      // One at a time: no request is lost twice.
      (file) => ({ ...file, limits: { ...file.limits, concurrency: 1 } }),
    )
  }
  const { report, code, passed } = await behind((sent) => sent % 7 === 0)
  expect(code).toBe(0)
  expect(report.run.retried).toBeGreaterThan(5)
  expect(passed.toSorted()).toEqual(asked)
  // What breaks the service each time is.
  let translations = 0
  const broken = await behind((_, path) => path.endsWith('/v1/translate') && ++translations > 3)
  expect(broken.failed).toContain(id)
})

const only = ['files.*', 'translate.run/4*', 'translate.run/2*', 'envelope/shape']

/** What a target answers is changed from that status on. */
const judgeChanged = (change: (status: number) => Response, skip: string[] = []) =>
  judgeBehind(
    async (_, answer) => {
      const own = await answer()
      return own.status >= 400 ? change(own.status) : own
    },
    { only, skip },
  )

test('pages in place of envelopes are shown as what they are, counted in one line, and one cause', async () => {
  const titles: Record<number, string> = {
    400: '400 Bad Request',
    401: '401 Unauthorized',
    404: '404 Not Found',
  }
  const { report, of, terminal } = await judgeChanged(
    (status) => html(status, titles[status] ?? `${status} Error`),
    // Which error comes first is a matter of chance: all of them are refusals.
    ['*/5*', '*/429-*'],
  )
  expect(of('envelope/shape').failures[0]?.actual).toMatch(
    /^4\d\d with a page: 4\d\d [\w ]+, nginx\/1\.22\.1$/,
  )
  const bare = report.requirements.filter(({ failures: [failure] }) => failure?.noEnvelope)
  expect(bare.length).toBeGreaterThan(4)
  for (const { failures } of bare)
    expect(failures[0]?.actual).toMatch(
      /; the status is right, but this is no error envelope: see envelope\/shape$/,
    )
  const musts = bare.filter(({ level }) => level === 'must')
  const cause = byCause(report.requirements.filter(({ outcome }) => outcome === 'failed')).find(
    ({ first }) => first.id === musts[0]?.id,
  )
  expect(cause?.others).toHaveLength(musts.length - 1)
  const times = report.run.pages?.reduce((sum, page) => sum + page.times, 0)
  expect(report.run.pages).toContainEqual(
    expect.objectContaining({ status: 401, title: '401 Unauthorized', server: 'nginx/1.22.1' }),
  )
  expect(terminal()).toContain(
    `pages: ${times} error responses were pages in place of an envelope: ${report.run.pages?.[0]?.times} × ${report.run.pages?.[0]?.title} (nginx/1.22.1), `,
  )
})

test('JSON that is no envelope is one cause too, and no page; a wrong name or status is not told as none', async () => {
  const bareIn = ({ requirements }: Report) =>
    requirements.filter(({ failures }) => failures.some(({ noEnvelope }) => noEnvelope))
  const { report } = await judgeChanged((status) => json(status, { detail: 'no' }))
  expect(bareIn(report).length).toBeGreaterThan(4)
  expect(report.run.pages).toBeUndefined()
  const other = await judgeChanged(() => error(418, 'Teapot'))
  expect(bareIn(other.report)).toEqual([])
})

/** The run is told as it stands on a terminal. */
const terminalOf = async (reply: Reply, asked?: string[]): Promise<string> =>
  (await judgeBehind(reply, { backoffMs: 250, ...(asked && { only: asked }) })).terminal()
const textOf = async (request: Request): Promise<string> =>
  Buffer.from(await request.arrayBuffer()).toString()
const idMade = async (request: Request, response: Response): Promise<string | undefined> => {
  if (request.method !== 'POST' || response.status >= 300) return undefined
  return ((await response.json().catch(() => ({}))) as { id?: string }).id
}

test('a redirect to the path with a slash is told as a redirect, and no base URL is blamed', async () => {
  const text = await terminalOf((path, answer) =>
    path.endsWith('/') ? answer() : redirect(`${path}/`, 308),
  )
  expect(text).toMatch(/received +308 to \/base\/v1\//)
  expect(text).toMatch(
    /^every path is redirected, and a redirect is not followed: serve the paths/m,
  )
  expect(text).toContain('requests are redirected: 308')
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
  expect(text).toMatch(
    /^ +\d+ +no error envelope, but a page: 403 Request blocked \(waf\)\n +if something in front/m,
  )
  expect(text).not.toMatch(/status is right|lacks a right/)
})

const made = ['files.*', 'graphs.*', 'applications.create/*', 'jobs.*/2*']

test('a restart that loses what was created is told by what is gone, and asks nobody to declare anything', async () => {
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
  expect(text).toMatch(
    /^ +\d+ +what the run creates is not found later\n +keep what is created: look for a restart/m,
  )
  expect(text).not.toMatch(/grant them|declare a request that succeeds/)
})

test.each([
  [
    'BadToken',
    /401 BadToken, so the service has read it: it may have expired; give one that is valid$/m,
  ],
  [
    'BadCredentials',
    /answered 401; if the key is right, a proxy .* may remove the header Authorization/,
  ],
] as const)('a key that was never accepted, by 401 %s', async (tpe, sentence) => {
  const text = await terminalOf(() => error(401, tpe))
  expect(text).toMatch(sentence)
  if (tpe === 'BadToken') expect(text).not.toContain('proxy')
})

test('two instances that know different things, and a cookie that keeps requests on one, are told once', async () => {
  const owner = new Map<string, number>()
  let sent = 0
  const text = await terminalOf(async (path, answer, _ms, request) => {
    const node = sent++ % 2
    const asked = `${path} ${await textOf(request)}`
    const isElsewhere = [...owner].some(([id, at]) => at !== node && asked.includes(id))
    const own = isElsewhere ? error(404, 'ResourceNotFound') : await answer()
    const response = new Response(await own.clone().arrayBuffer(), own)
    response.headers.append('set-cookie', `node=${node}; Path=/`)
    const id = await idMade(request, own)
    if (id !== undefined) owner.set(id, node)
    return response
  }, made)
  expect(text).toMatch(
    /answers differ from one time to the next: \d+ of \d+ answers were 404 ResourceNotFound\n.*know different things: .*the cookie node may keep all requests on one of them/,
  )
  expect(text).not.toMatch(/grant them|refuse them with/)
})
