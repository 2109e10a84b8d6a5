/** What is judged to its end: whatever is in front, no requirement is named that the service keeps. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { onReusedConnection } from '../../harness/engine/describe.ts'
import { startReference } from '../../reference/server.ts'
import { ids } from '../cli/conform.ts'
import { freePort } from '../support/raw-server.ts'
import {
  at,
  backend,
  certificates,
  expectNotJudged,
  expectPassed,
  haproxy,
  judge,
  nginx,
  only,
  programs,
  proxied,
  reportOf,
  twice,
  upstream,
  varnish,
} from './servers.ts'

const json = ['--report', 'json']
const { nginx: hasNginx, haproxy: hasHaproxy, varnishd } = programs
const later = { variants: ['settling/uploads'], settleMs: 1000 }

/** The service behind each of these is judged as without it. */
const fronts: Record<string, () => Promise<number>> = {
  'nginx with gzip and without buffering': async () =>
    nginx(
      `gzip on; gzip_types application/json; proxy_buffering off; ${proxied(await upstream())}`,
    ),
  'keep-alive for three requests': async () =>
    nginx(proxied(await upstream(), 'keepalive_requests 3;')),
  'HTTP/1.0 to the service': async () =>
    nginx(proxied(await upstream()).replace('proxy_http_version 1.1;', '')),
  'answers at 4 KiB a second': async () => nginx(proxied(await upstream(), 'limit_rate 4k;')),
  'uploads that become readable later': async () => nginx(proxied(await upstream(later))),
  'HAProxy that closes each connection': async () =>
    haproxy(backend(await upstream()), '{port}\n  option httpclose'),
}

describe.skipIf(!hasNginx || !hasHaproxy)('a service that keeps the interface', () => {
  test.each(Object.entries(fronts))('passes behind %s', async (_, front) => {
    expectPassed(await judge(at(await front())))
  })

  test('passes where HTTP/2 is preferred by TLS, and HTTP/1.1 taken', async () => {
    const { both: pem, ca } = certificates()
    const port = await haproxy(backend(await upstream()), `{port} ssl crt ${pem} alpn h2,http/1.1`)
    expectPassed(await judge(`https://127.0.0.1:${port}`, { tls: { ca } }))
  })

  test.skipIf(!varnishd)('passes behind Varnish, but not if that looks at no key', async () => {
    expectPassed(await judge(at(await varnish(await upstream()))))
    const careless =
      'sub vcl_recv { if (req.method == "GET") { return (hash); } } sub vcl_backend_response { set beresp.ttl = 60s; }'
    const url = at(await varnish(await upstream(), careless))
    const ended = await judge(url, {}, [...only('files.list/*', 'jobs.retrieve/*'), ...twice])
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(/a cache answers, as the header (?:age|x-varnish) shows/)
  })
})

describe.skipIf(!hasNginx)('a limit of requests is reported as that', () => {
  test.each(['limit_req_status 429;', ''])('limit_req; %s', async (more) => {
    const zone = `limit_req_zone $binary_remote_addr zone=z:1m rate=20r/s; ${more}`
    const limited = proxied(await upstream(), 'limit_req zone=z burst=5 nodelay;')
    const asked = only('files.retrieve/*', 'translate.run/*', 'files.upload/2xx-*')
    const ended = await judge(at(await nginx(zone + limited)), {}, [...asked, ...twice, ...json])
    expect(ids(reportOf(ended), 'failed'), ended.stdout).toEqual([])
    expect(ended.stdout).toMatch(/throttled: .*; use --rate or --concurrency to send less/)
  })
})

describe.skipIf(!hasNginx || !hasHaproxy)('a restart in the middle of a run', () => {
  const steady = ['files.list/*', 'files.retrieve/*', 'translate.run/*', 'ai-detect.run/*']
  const args = [...only(...steady, 'envelope/*'), ...twice, '--rate', '40', ...json]

  /** A service that is away from 1.5 s on, after its start, for that many ms; Infinity: for good. */
  async function restarting(port: number, ms: number): Promise<void> {
    const first = await startReference({ port })
    const begun = (async () => {
      await sleep(1500)
      await first.close()
      if (ms === Infinity) return undefined
      await sleep(ms)
      return startReference({ port })
    })()
    onTestFinished(async () => (await begun)?.close())
  }

  test.each<[string, (port: number) => Promise<number>]>([
    ['without anything in front', async (port) => port],
    ['behind nginx', (port) => nginx(proxied(port))],
    ['behind HAProxy', (port) => haproxy(backend(port))],
  ])('%s is waited for', async (_, front) => {
    const port = await freePort()
    const url = at(await front(port))
    await restarting(port, 3000)
    const report = reportOf(await judge(url, {}, args))
    // The pages of the gateway were answers too.
    expect(ids(report, 'failed').filter((id) => !id.startsWith('envelope/'))).toEqual([])
    expect(report.exit.code).toBeLessThan(3)
    expect(report.summary.must.passed).toBeGreaterThan(40)
  })

  test('behind nginx for good ends the run', async () => {
    const port = await freePort()
    const url = at(await nginx(proxied(port)))
    await restarting(port, Infinity)
    const ended = await judge(url, {}, args)
    expectNotJudged(ended, /^exit 3: the target stopped answering: .*502/)
    expect(ids(reportOf(ended), 'failed').filter((id) => !id.startsWith('envelope/'))).toEqual([])
  })
})

test.skipIf(!hasHaproxy)(
  'replicas without shared state are reported as that, and no connection is blamed',
  async () => {
    const sides = [await upstream(), await upstream()].map(
      (port, side) => `  server s${side} 127.0.0.1:${port}\n`,
    )
    const port = await haproxy(
      `backend service\n  mode tcp\n  balance roundrobin\n${sides.join('')}`,
      '{port}\n  mode tcp',
    )
    const asked = only('files.*', 'graphs.*', 'pdf.*', 'translate.run/*')
    const report = reportOf(await judge(at(port), {}, [...asked, ...twice, ...json]))
    const received = report.requirements.flatMap(({ failures }) =>
      failures.map(({ actual }) => actual),
    )
    expect(received.filter((text) => text.startsWith(onReusedConnection))).toEqual([])
    expect(received.join('\n')).toContain('the answers to one request differ')
    // What needs no state is kept by each of them.
    const stateless = /^translate\.run|\/40[13]-|^files\.list\/2|^files\.retrieve/
    expect(ids(report, 'failed').filter((id) => stateless.test(id))).toEqual([])
  },
)
