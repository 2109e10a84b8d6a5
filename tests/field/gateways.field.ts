/** What real gateways say of themselves is no verdict on the service. All sentences: `engine/gateway`; here, that real programs lead to them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { folder, start } from '../cli/conform.ts'
import { freePort } from '../support/raw-server.ts'
import {
  at,
  backend,
  certificates,
  expectNotJudged,
  expectPassed,
  few,
  forwardProxy,
  fullKey,
  haproxy,
  judge,
  lastLine,
  nginx,
  only,
  programs,
  proxied,
  upstream,
} from './servers.ts'

const isDown = /the service is down or still starting: /
const server = (block: string) => nginx(`server { listen 127.0.0.1:{port}; ${block} }`)
const json = (body: string) => `default_type application/json; ${body}`
const users = (file: string) => `auth_basic staging; auth_basic_user_file ${file};`
const isOpen = '"open") { return 403; }'

/** What is in front, and the sentence by which the run ends. */
const fronts: Record<string, readonly [() => Promise<number>, RegExp]> = {
  'an upstream that is down': [async () => nginx(proxied(await freePort())), isDown],
  'a wrong path': [
    () => server('location / { return 404; }'),
    /looks like a website.* 404 with a page/,
  ],
  auth_basic: [
    async () => {
      const file = join(folder(), 'users')
      writeFileSync(file, 'user:{PLAIN}secret\n')
      return nginx(proxied(await upstream(), users(file)))
    },
    /a gateway asks for a credential of its own \(WWW-Authenticate: Basic\)/,
  ],
  'a header that is required': [
    async () => nginx(proxied(await upstream(), `if ($http_x_gateway_key != ${isOpen}`)),
    /403 with a page.* headers of the target file/,
  ],
  'a log-in page': [
    () => server("default_type text/html; return 200 '<html><title>Sign in</title></html>';"),
    /this looks like a website, not the API/,
  ],
  'a redirect': [
    () => server('return 302 https://login.example/start;'),
    /it redirects to https:\/\/login\.example\/start: /,
  ],
  'a key that a gateway asks for': [
    () => server(json(`return 401 '{"message":"No API key found"}';`)),
    /the key is not accepted/,
  ],
  'a service that is too slow for its gateway': [
    async () => {
      const slow = await upstream({ latency: 2500 })
      return server(`location / { proxy_pass http://127.0.0.1:${slow}; proxy_read_timeout 1s; }`)
    },
    isDown,
  ],
  'an outage that is reported as JSON': [
    () => server(json(`return 502 '{"message":"bad gateway"}';`)),
    isDown,
  ],
  'a gateway that removes the key': [
    async () => {
      const bare = 'proxy_set_header Authorization ""; proxy_http_version'
      return nginx(proxied(await upstream()).replace('proxy_http_version', bare))
    },
    /^exit 3: the key is not accepted/,
  ],
  'HTTP/2 alone': [
    async () => nginx(proxied(await upstream()).replace('{port};', '{port} http2;')),
    /the answer is not HTTP: /,
  ],
}

describe.skipIf(programs.nginx === undefined)('behind nginx', () => {
  test.each(Object.entries(fronts))('%s is no verdict', async (_, [front, sentence]) => {
    const ended = await judge(at(await front()))
    expectNotJudged(ended, sentence)
  })

  test('what a header, a cookie and a query member open is judged', async () => {
    const closed = ['http_x_gateway_key', 'cookie_session', 'arg_tenant']
    const more = closed.map((name) => `if ($${name} != ${isOpen}`).join(' ')
    const url = at(await nginx(proxied(await upstream(), more)))
    const change = { headers: { cookie: { env: 'SESSION' } }, query: { tenant: 'open' } }
    const given = [...only('files.list/*'), '--header', 'x-gateway-key: env:GATEWAY_KEY']
    const env = { GATEWAY_KEY: 'open', SESSION: 'session=open' }
    expectPassed(await judge(url, change, given, env))
  })

  test('a body that is larger than the gateway allows is reported as such', async () => {
    const port = await nginx(proxied(await upstream(), 'client_max_body_size 1;'))
    const ended = await judge(at(port), {}, [...only('files.upload/2xx-*'), '--runs', '2'])
    expect(ended.stdout).toContain('the body of this upload is larger than your gateway allows')
  })

  test('an upstream that restarts is judged', async () => {
    const port = await freePort()
    const judged = judge(at(await nginx(proxied(port))), {}, only('files.list/*'))
    const { close } = await startReference({ port })
    onTestFinished(() => close())
    expect((await judged).code).toBe(0)
  })

  /** nginx with a certificate for 127.0.0.1; its port. */
  async function secure({ cert, key }: ReturnType<typeof certificates>, more = '') {
    const tls = `ssl_certificate ${cert}; ssl_certificate_key ${key}; ${more}`
    return nginx(proxied(await upstream(), tls).replace('{port};', '{port} ssl;'))
  }

  test('each TLS error ends the run with what is wrong', async () => {
    const files = certificates()
    const { ca, cert, key } = files
    const others = certificates()
    const port = await secure(files)
    const told = async (url: string, tls: object, sentence: RegExp) =>
      expectNotJudged(await judge(url, { tls }), sentence)
    const url = (of: number) => `https://127.0.0.1:${of}`
    await told(url(port), { ca: others.ca }, /no authority in tls\.ca signed it: /)
    await told(url(port), {}, /tls\.ca .*NODE_EXTRA_CA_CERTS/)
    await told(`https://localhost:${port}`, { ca }, /certificate not accepted: .*altnames/)
    await told(at(port), { ca }, /The plain HTTP request was sent to HTTPS port/)
    const old = await secure(files, 'ssl_protocols TLSv1; ssl_ciphers ALL:@SECLEVEL=0;')
    await told(url(old), { ca }, /TLS/)
    const asking = await secure(files, `ssl_client_certificate ${ca}; ssl_verify_client on;`)
    await told(
      url(asking),
      { ca, cert: others.cert, key: others.key },
      /client certificate|SSL certificate error/,
    )
    await told(url(asking), { ca }, /No required SSL certificate was sent/)
    expect((await judge(url(asking), { tls: { ca, cert, key } }, only('files.list/*'))).code).toBe(
      0,
    )
    const nameless = await nginx('server { listen 127.0.0.1:{port} ssl; ssl_reject_handshake on; }')
    await told(url(nameless), { ca }, /TLS|SSL/i)
    await told(url(await nginx(proxied(await upstream()))), { ca }, /that port does not speak TLS/)
  })

  test('a certificate of an authority that NODE_EXTRA_CA_CERTS names is accepted', async () => {
    const files = certificates()
    const url = `https://127.0.0.1:${await secure(files)}`
    // Node reads it when it starts.
    const env = { CONFORM_API_KEY: fullKey, NODE_EXTRA_CA_CERTS: files.ca }
    expectPassed(await start([url, '--only', 'files.list/2xx-*'], { env }).ended)
  })
})

describe.skipIf(programs.haproxy === undefined)('behind HAProxy', () => {
  test('a service that is down is no verdict', async () => {
    expectNotJudged(await judge(at(await haproxy(backend(await freePort())))), isDown)
  })

  test('a client certificate is asked for, and http to a port of TLS is noticed', async () => {
    const { both, ca, cert, key } = certificates()
    const bind = `{port} ssl crt ${both} ca-file ${ca} verify required`
    const port = await haproxy(backend(await upstream()), bind)
    const url = `https://127.0.0.1:${port}`
    expectNotJudged(await judge(url, { tls: { ca } }), /a client certificate/)
    expect((await judge(url, { tls: { ca, cert, key } }, only('files.list/*'))).code).toBe(0)
    expectNotJudged(await judge(at(port)), new RegExp(`write ${url}`))
  })
})

describe('through a forward proxy', () => {
  test('an http target is asked for in absolute form', async () => {
    const { port, asked } = await forwardProxy(undefined, await upstream())
    const target = 'http://service.example'
    expectPassed(await judge(target, {}, few, { HTTP_PROXY: at(port) }))
    expect(asked).toContain(`GET ${target}/v1/files`)
    expect(asked.join()).not.toContain('CONNECT')
  })

  test.each(['http', 'https'])('%s: a proxy that refuses is named', async (scheme) => {
    for (const status of [407, 403, 502]) {
      const { port } = await forwardProxy(status, 1)
      const name = `${scheme.toUpperCase()}_PROXY`
      const ended = await judge(`${scheme}://service.example`, {}, few, { [name]: at(port) })
      expectNotJudged(ended, new RegExp(`the proxy 127\\.0\\.0\\.1:${port} \\(${name}\\)`))
      expect(lastLine(ended)).toContain(`${status}`)
    }
  })
})
