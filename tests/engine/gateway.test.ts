import { expect, test } from 'vitest'
import { base, html, json, judgeBehind, type Reply } from './behind.ts'

const redirect = (location: string, status = 302): Response =>
  new Response(null, { status, headers: { location } })

test.each<[string, () => Response, string]>([
  [
    'a bad gateway',
    () => html(502, '502 Bad Gateway'),
    'a gateway answered, and not the service behind it: 502 with a page: 502 Bad Gateway, nginx/1.22.1; start the service, or look at where the gateway sends its requests',
  ],
  [
    'words of a gateway',
    () => new Response('no healthy upstream', { status: 503, headers: { server: 'envoy' } }),
    'a gateway answered, and not the service behind it: 503, but the body is not JSON: no healthy upstream, Server: envoy; start the service, or look at where the gateway sends its requests',
  ],
  [
    'JSON of a gateway',
    () => json(504, { message: 'Endpoint request timed out' }),
    'a gateway answered, and not the service behind it: 504 {"message":"Endpoint request timed out"}; start the service, or look at where the gateway sends its requests',
  ],
  [
    'a path that the gateway does not have',
    () => html(404, '404 Not Found', 'nginx'),
    'a gateway answered with a page of its own: 404 with a page: 404 Not Found, nginx; check the path of the base URL, and what the gateway serves there',
  ],
  [
    'a gateway that lets nobody in',
    () => html(403, '403 Forbidden'),
    'a gateway answered with a page of its own: 403 with a page: 403 Forbidden, nginx/1.22.1; if it asks for something of its own, declare that in headers of the target file (--header)',
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
    'the first request is redirected to https://login.example/start: if that is a log-in, declare what shows that you are logged in, for example a cookie, in headers of the target file (302 to https://login.example/start)',
  ],
  [
    'a log-in on the same host',
    () => redirect('/oauth2/start', 307),
    'the first request is redirected to http://target.example/oauth2/start: if that is a log-in, declare what shows that you are logged in, for example a cookie, in headers of the target file (307 to /oauth2/start)',
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
    'a gateway answered with a page of its own: 403 with a page: Just a moment...; if it asks for something of its own, declare that in headers of the target file (--header)',
  ],
  [
    'HTTP/2 alone',
    () => new Response('', { status: 426, headers: { upgrade: 'h2c' } }),
    'it does not take HTTP/1.1, which is what the suite speaks: let the gateway take it too (426 without a body)',
  ],
])('%s is no verdict', async (_, reply, sentence) => {
  const { code, report, terminal, tookMs } = await judgeBehind(() => reply())
  expect(code).toBe(3)
  expect(report.verdict).toBe('not-judged')
  expect(report.exit.because).toBe(`${base} cannot be judged: ${sentence}`)
  expect(
    report.requirements.filter(({ outcome }) => outcome === 'failed' || outcome === 'passed'),
  ).toEqual([])
  expect(terminal().split('\n')[2]).not.toContain('✗')
  expect(tookMs).toBeLessThan(12_000)
})

test('a base URL that ends in /v1 is no verdict, and nothing else is said to be wrong', async () => {
  const none = { tpe: 'NotFound', errors: [], extras: {} }
  const { code, report, terminal } = await judgeBehind(
    () => json(404, none),
    undefined,
    undefined,
    `${base}/v1`,
  )
  expect(code).toBe(3)
  expect(report.exit.because).toBe(
    `${base}/v1 cannot be judged: the base URL ends in /v1, but the paths of the interface begin with /v1 already: leave it out (404 NotFound)`,
  )
  expect(terminal()).not.toMatch(/check resources|Likely/)
})

test('a service below a base URL that ends in /v1 is judged', async () => {
  const { report } = await judgeBehind((_, answer) => answer(), undefined, undefined, `${base}/v1`)
  expect(report.requirements.find(({ id }) => id === 'files.list/2xx-accepted')?.outcome).toBe(
    'passed',
  )
})

test.each<[string, Reply]>([
  [
    'starts meanwhile',
    (_, answer, sinceMs) => (sinceMs < 7000 ? html(502, '502 Bad Gateway') : answer()),
  ],
  [
    'does not serve that one path',
    (path, answer) => (path.endsWith('/v1/files') ? html(404, '404 Not Found') : answer()),
  ],
  [
    'wants a slash at the end of a path',
    (path, answer) => (path.endsWith('/v1/files') ? redirect(`${path}/`, 307) : answer()),
  ],
  [
    'answers its own envelope',
    (path, answer) =>
      path.endsWith('/v1/files')
        ? json(503, { tpe: 'ServiceUnavailable', errors: [], extras: {} })
        : answer(),
  ],
  [
    'answers a page of its own',
    (path, answer) =>
      path.endsWith('/v1/files')
        ? new Response('<html><body>Cannot GET</body></html>', { status: 404 })
        : answer(),
  ],
])('a service that %s is judged', async (name, reply) => {
  const { report } = await judgeBehind(reply)
  const passed = report.requirements
    .filter(({ outcome }) => outcome === 'passed')
    .map(({ id }) => id)
  expect(passed).toContain('files.retrieve/2xx-accepted')
  // What a gateway said before the service was there is not held against the service.
  if (name === 'starts meanwhile') expect(passed).toContain('envelope/shape')
})

test('an error of a gateway now and then is no matter of what was sent', async () => {
  const judged = [
    'translate.run/bad-input-no-5xx',
    'graphs.create/bad-input-no-5xx',
    'jobs.create/202-any-text',
  ]
  const only = [...judged, 'envelope/bad-input-no-5xx']
  const behind = (isLost: (sent: number, path: string) => boolean) => {
    let sent = 0
    return judgeBehind(
      (path, answer) => (isLost(++sent, path) ? html(502, '502 Bad Gateway') : answer()),
      { only },
      // One at a time: no request is lost twice.
      (file) => ({ ...file, limits: { ...file.limits, concurrency: 1 } }),
    )
  }
  const { report, code } = await behind((sent) => sent % 7 === 0)
  expect(code).toBe(0)
  expect(report.run.retried).toBeGreaterThan(5)
  expect(
    report.requirements
      .filter(({ outcome }) => outcome === 'passed')
      .map(({ id }) => id)
      .sort(),
  ).toEqual(only.toSorted())
  // What breaks the service each time is.
  let translations = 0
  const broken = await behind((_, path) => path.endsWith('/v1/translate') && ++translations > 3)
  expect(
    broken.report.requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id),
  ).toContain(judged[0])
})
