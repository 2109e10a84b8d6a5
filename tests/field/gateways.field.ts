import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import {
  at,
  backend,
  expectNotJudged,
  expectPassed,
  certificates,
  few,
  forwardProxy,
  haproxy,
  judge,
  lastLine,
  nginx,
  only,
  programs,
  proxied,
  upstream,
} from './servers.ts'
import { folder } from '../cli/conform.ts'
import { freePort } from '../support/raw-server.ts'

for (const [name, path] of Object.entries(programs))
  if (path === undefined)
    process.stderr.write(`SKIPPED: ${name} is not installed; apt-get install nginx-light haproxy\n`)

describe.skipIf(programs.nginx === undefined)('behind nginx', () => {
  test('the service is judged as without it: gzip, buffering off', async () => {
    const port = await nginx(
      `gzip on; gzip_types application/json; proxy_buffering off; ${proxied(await upstream())}`,
    )
    expectPassed(await judge(at(port)))
  })

  test('an upstream that is down is no verdict', async () => {
    const port = await nginx(proxied(await freePort()))
    expectNotJudged(
      await judge(at(port)),
      /^exit 3: http:\S+ cannot be judged: the service is down or still starting: 502 with a page: 502 Bad Gateway, nginx\/[\d.]+; start the service, or look at where the gateway sends its requests$/,
    )
  })

  test('a wrong base path is named', async () => {
    const down = await upstream()
    const port = await nginx(
      `server { listen 127.0.0.1:{port}; location /api/ { proxy_pass http://127.0.0.1:${down}/; } location / { return 404; } }`,
    )
    expectNotJudged(
      await judge(`http://127.0.0.1:${port}/apj`),
      /a gateway answered with a page of its own: 404 with a page: 404 Not Found, nginx\/[\d.]+; check the path of the base URL/,
    )
    expect((await judge(`http://127.0.0.1:${port}/api`, {}, only('files.list/*'))).code).toBe(0)
  })

  test('auth_basic in front is a credential of the gateway', async () => {
    const file = join(folder(), 'users')
    writeFileSync(file, 'user:{PLAIN}secret\n')
    const port = await nginx(
      proxied(await upstream(), `auth_basic staging; auth_basic_user_file ${file};`),
    )
    expectNotJudged(
      await judge(at(port)),
      /a gateway asks for a credential of its own \(WWW-Authenticate: Basic\) in the header that carries the key/,
    )
  })

  test('a header of the gateway is asked for, and given', async () => {
    const port = await nginx(
      proxied(await upstream(), 'if ($http_x_gateway_key != "open") { return 403; }'),
    )
    const url = at(port)
    const without = await judge(url)
    expectNotJudged(
      without,
      /403 with a page: 403 Forbidden, nginx\/[\d.]+; if it asks for something of its own, declare that in headers/,
    )
    const given = ['--only', 'files.list/*', '--header', 'x-gateway-key: env:GATEWAY_KEY']
    expect((await judge(url, {}, given, { GATEWAY_KEY: 'open' })).code).toBe(0)
  })

  test('a client certificate is asked for, and given', async () => {
    const { ca, cert, key } = certificates()
    const tls = `ssl_certificate ${cert}; ssl_certificate_key ${key}; ssl_client_certificate ${ca}; ssl_verify_client on;`
    const port = await nginx(proxied(await upstream(), tls).replace('{port};', '{port} ssl;'))
    const url = `https://127.0.0.1:${port}`
    const without = await judge(url, { tls: { ca } })
    expectNotJudged(
      without,
      /it asks for a client certificate: declare tls\.cert and tls\.key in the target file \(400 with a page: 400 No required SSL certificate was sent, /,
    )
    expect((await judge(url, { tls: { ca, cert, key } }, only('files.list/*'))).code).toBe(0)
    const untrusted = await judge(url, { tls: { cert, key } })
    expect(lastLine(untrusted)).toMatch(
      /certificate not accepted: .*; name the authority that signed it in tls\.ca/,
    )
    const plain = await judge(at(port))
    expect([plain.code, lastLine(plain)]).toEqual([
      3,
      expect.stringContaining(`that port speaks TLS: write https://127.0.0.1:${port}`),
    ])
  })

  test('a body that is larger than the gateway allows is reported as such', async () => {
    const port = await nginx(proxied(await upstream(), 'client_max_body_size 1;'))
    const ended = await judge(at(port), {}, [
      ...only('envelope/*', 'files.upload/2xx-*'),
      '--runs',
      '2',
    ])
    expect(ended.stdout).toMatch(
      /pages: \d+ error responses? (?:was a page|were pages) in place of an envelope: .*413 Request Entity Too Large \(nginx/,
    )
    expect(ended.stdout).toContain('the body of this upload is larger than your gateway allows')
  })

  test('an upstream that restarts is judged', async () => {
    const port = await freePort()
    const front = await nginx(proxied(port))
    const judged = judge(`http://127.0.0.1:${front}`, {}, only('files.list/*'))
    const { close } = await startReference({ port })
    onTestFinished(() => close())
    expect((await judged).code).toBe(0)
  })
})

describe.skipIf(programs.nginx === undefined)('nothing is learned of the service from', () => {
  const page = `default_type text/html; location / { return 200 '<html><title>Sign in</title>Sign in to go on</html>'; }`
  test.each<[string, string, RegExp]>([
    [
      'a log-in page',
      page,
      /this looks like a website, not the API: check the base URL; if it is a log-in, declare .* cookie/,
    ],
    [
      'a redirect to a log-in',
      'return 302 https://login.example/start;',
      /redirected to https:\/\/login\.example\/start: if that is a log-in, declare .* cookie/,
    ],
    [
      'a redirect to another address',
      'return 301 http://api.example$request_uri;',
      /it redirects to http:\/\/api\.example\/v1\/files: use http:\/\/api\.example as the base URL/,
    ],
    [
      'a key that a gateway asks for',
      `default_type application/json; return 401 '{"message":"No API key found"}';`,
      /if a gateway gives it, declare what that asks for in headers of the target file \(--header\), for example x-api-key/,
    ],
    [
      'a service that is too slow for its gateway',
      'location / { proxy_pass http://127.0.0.1:SLOW; proxy_read_timeout 1s; }',
      /the service is down or still starting: 504 with a page: 504 Gateway Time-out/,
    ],
    [
      'an outage that is reported as JSON',
      `default_type application/json; return 502 '{"message":"bad gateway"}';`,
      /the service is down or still starting: 502 \{"message":"bad gateway"\}, Server: nginx/,
    ],
  ])('%s', async (_, block, sentence) => {
    const slow = block.includes('SLOW') ? await upstream({ latency: 2500 }) : 0
    const port = await nginx(
      `server { listen 127.0.0.1:{port}; ${block.replace('SLOW', String(slow))} }`,
    )
    const ended = await judge(at(port))
    expectNotJudged(ended, sentence)
    expect(ended.stdout).not.toContain('✗')
  })

  test('a base URL that ends in /v1, a key that is taken away, and HTTP/2 alone', async () => {
    const service = await upstream()
    const url = `http://127.0.0.1:${await nginx(proxied(service))}/v1`
    expect(lastLine(await judge(url))).toMatch(/the base URL ends in \/v1, .*: leave it out/)
    const bare = proxied(service).replace(
      'proxy_http_version',
      'proxy_set_header Authorization ""; proxy_http_version',
    )
    expect(lastLine(await judge(at(await nginx(bare))))).toMatch(/^exit 3: the key is not accepted/)
    const h2c = await nginx(proxied(service).replace('{port};', '{port} http2;'))
    expect(lastLine(await judge(`http://127.0.0.1:${h2c}`))).toMatch(/the suite speaks HTTP\/1\.1/)
  })

  test('what a cookie and a query member open is judged', async () => {
    const more =
      'if ($cookie_session != "open") { return 403; } if ($arg_tenant != "one") { return 404; }'
    const url = at(await nginx(proxied(await upstream(), more)))
    const change = { headers: { cookie: { env: 'SESSION' } }, query: { tenant: 'one' } }
    expectPassed(await judge(url, change, only('files.list/*'), { SESSION: 'session=open' }))
  })
})

describe.skipIf(programs.haproxy === undefined)('behind HAProxy', () => {
  test('the service is judged as without it', async () => {
    const port = await haproxy(
      `frontend f\n  bind 127.0.0.1:{port}\n  default_backend service\n${backend(await upstream())}`,
    )
    expectPassed(await judge(at(port)))
  })

  test('a service that is down is no verdict', async () => {
    const port = await haproxy(
      `frontend f\n  bind 127.0.0.1:{port}\n  default_backend service\n${backend(await freePort())}`,
    )
    expectNotJudged(
      await judge(at(port)),
      /the service is down or still starting: 503 with a page: 503 Service Unavailable/,
    )
  })

  test('a client certificate, and http to a port of TLS', async () => {
    const { both, ca, cert, key } = certificates()
    const bind = `bind 127.0.0.1:{port} ssl crt ${both} ca-file ${ca} verify required`
    const port = await haproxy(
      `frontend f\n  ${bind}\n  default_backend service\n${backend(await upstream())}`,
    )
    const url = `https://127.0.0.1:${port}`
    const without = await judge(url, { tls: { ca } })
    expectNotJudged(
      without,
      /asks for a client certificate(: |, )declare tls\.cert and tls\.key in the target file/,
    )
    expect((await judge(url, { tls: { ca, cert, key } }, only('files.list/*'))).code).toBe(0)
    const plain = await judge(at(port))
    expect([plain.code, lastLine(plain)]).toEqual([
      3,
      expect.stringContaining(`write https://127.0.0.1:${port}`),
    ])
  })
})

describe('through a forward proxy', () => {
  const target = 'http://service.example'

  test('an http target is asked for in absolute form', async () => {
    const { port, asked } = await forwardProxy(undefined, await upstream())
    expectPassed(await judge(target, {}, few, { HTTP_PROXY: at(port) }))
    expect(asked).toContain(`GET ${target}/v1/files`)
    expect(asked.join()).not.toContain('CONNECT')
  })

  test.each([
    ['http', 407, /the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\) asks for credentials \(407\)/],
    [
      'http',
      403,
      /403 with a page: 403 of the proxy, .*the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\); NO_PROXY=service\.example bypasses it/,
    ],
    [
      'http',
      502,
      /502 with a page: 502 of the proxy, .*the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\); NO_PROXY=service\.example bypasses it/,
    ],
    ['https', 407, /the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) asks for credentials \(407\)/],
    [
      'https',
      403,
      /the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) does not let requests through to service\.example: it answered 403/,
    ],
    [
      'https',
      502,
      /the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) could not reach service\.example: it answered 502/,
    ],
  ])('%s: a proxy that answers %i is named', async (scheme, status, sentence) => {
    const { port } = await forwardProxy(status, 1)
    const ended = await judge(`${scheme}://service.example`, {}, few, {
      [`${scheme.toUpperCase()}_PROXY`]: at(port),
    })
    expectNotJudged(ended, sentence)
  })
})
