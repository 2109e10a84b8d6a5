import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { onReusedConnection } from '../../harness/engine/describe.ts'
import { startReference } from '../../reference/server.ts'
import { meddler } from './meddler.ts'
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
} from './servers.ts'
import { freePort } from '../support/raw-server.ts'

// What is judged to its end: whatever is in front, no requirement is named that the service keeps.

const failedIds = ({ requirements }: Report): string[] =>
  requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)

/** Lists the response that each failure shows. */
const received = ({ requirements }: Report): string[] =>
  requirements.flatMap(({ failures }) => failures.map(({ actual }) => actual))

const json = ['--report', 'json']
const both = programs.nginx !== undefined && programs.haproxy !== undefined
const http = (more = ''): string =>
  `frontend f\n  bind 127.0.0.1:{port}\n  default_backend service\n${more}`

describe.skipIf(!both)('a service that keeps the interface is judged as without', () => {
  test.each<[string, () => Promise<string>]>([
    [
      'keep-alive for three requests',
      async () => at(await nginx(proxied(await upstream(), 'keepalive_requests 3;'))),
    ],
    [
      'HTTP/1.0 to the service',
      async () => at(await nginx(proxied(await upstream()).replace('proxy_http_version 1.1;', ''))),
    ],
    [
      'answers at 4 KiB a second',
      async () => at(await nginx(proxied(await upstream(), 'limit_rate 4k;'))),
    ],
    [
      'a connection closed after each answer',
      async () => at(await haproxy(http('  option httpclose\n') + backend(await upstream()))),
    ],
    [
      'uploads that become readable later',
      async () =>
        at(
          await nginx(proxied(await upstream({ variants: ['settling/uploads'], settleMs: 1000 }))),
        ),
    ],
  ])('%s', async (_, start) => {
    expectPassed(await judge(await start()))
  })

  test('HTTP/2 preferred by TLS, and HTTP/1.1 taken', async () => {
    const { both: pem, ca } = certificates()
    const bind = `frontend f\n  bind 127.0.0.1:{port} ssl crt ${pem} alpn h2,http/1.1\n  default_backend service\n`
    const ended = await judge(
      `https://127.0.0.1:${await haproxy(bind + backend(await upstream()))}`,
      { tls: { ca } },
    )
    expectPassed(ended)
  })
})

describe.skipIf(!both)('a limit of requests is reported as that', () => {
  test.each([
    ['429', 'limit_req_status 429;'],
    ['503', ''],
  ])('limit_req, %s', async (status, more) => {
    const zone = `limit_req_zone $binary_remote_addr zone=z:1m rate=20r/s; ${more}`
    const url = at(
      await nginx(`${zone} ${proxied(await upstream(), 'limit_req zone=z burst=5 nodelay;')}`),
    )
    const asked = only('files.retrieve/*', 'translate.run/*', 'files.upload/2xx-*')
    const ended = await judge(url, {}, [...asked, ...twice, ...json])
    const report = reportOf(ended)
    expect(failedIds(report), ended.stdout).toEqual([])
    const reasons = report.requirements
      .flatMap(({ reason }) => reason ?? [])
      .filter((reason) => reason.includes(status))
    expect(reasons.filter((reason) => !reason.startsWith('throttled'))).toEqual([])
    expect(ended.stdout).toMatch(/throttled: .*; use --rate or --concurrency to send less/)
  })
})

describe.skipIf(!both)('a restart in the middle of a run', () => {
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
    ['behind HAProxy', (port) => haproxy(http() + backend(port))],
  ])('%s is waited for', async (_, front) => {
    const port = await freePort()
    const url = at(await front(port))
    await restarting(port, 3000)
    const report = reportOf(await judge(url, {}, args))
    // The pages of the gateway were answers too.
    expect(failedIds(report).filter((id) => !id.startsWith('envelope/'))).toEqual([])
    expect(report.exit.code).toBeLessThan(3)
    expect(report.summary.must.passed).toBeGreaterThan(40)
  })

  test('a service that stays away behind nginx ends the run', async () => {
    const port = await freePort()
    const url = at(await nginx(proxied(port)))
    await restarting(port, Infinity)
    const ended = await judge(url, {}, args)
    expectNotJudged(
      ended,
      /^exit 3: the target stopped answering: the service is down or still starting: 502 with a page: 502 Bad Gateway, nginx/,
    )
    expect(failedIds(reportOf(ended)).filter((id) => !id.startsWith('envelope/'))).toEqual([])
  })
})

describe.skipIf(!both)('three seeds, and no connection is blamed', () => {
  const asked = [...only('files.*', 'graphs.*', 'pdf.*', 'translate.run/*'), '--runs', '2', ...json]
  const judgeWith = async (url: string, seed: number): Promise<Report> =>
    reportOf(await judge(url, {}, [...asked, '--seed', String(seed)]))

  test.each([1, 2, 3])('replicas without shared state, seed %i', async (seed) => {
    const sides = [await upstream(), await upstream()].map(
      (port, side) => `  server s${side} 127.0.0.1:${port}\n`,
    )
    const layer4 = `frontend f\n  mode tcp\n  bind 127.0.0.1:{port}\n  default_backend service\nbackend service\n  mode tcp\n  balance roundrobin\n`
    const report = await judgeWith(at(await haproxy(layer4 + sides.join(''))), seed)
    expect(failedIds(report).length).toBeGreaterThan(0)
    expect(received(report).filter((text) => text.startsWith(onReusedConnection))).toEqual([])
    // What needs no state is kept by each of them.
    const stateless = /^translate\.run|\/40[13]-|^files\.list\/2|^files\.retrieve/
    expect(failedIds(report).filter((id) => stateless.test(id))).toEqual([])
    expect(received(report).join('\n')).toContain('the answers to one request differ')
  })

  test.each([1, 2, 3])('a fault in every third answer, seed %i', async (seed) => {
    const proxy = await meddler(await upstream(), {
      answer: (number) => (number % 3 === 2 ? { status: 500, tpe: 'InternalError' } : undefined),
    })
    onTestFinished(() => proxy.close())
    const report = await judgeWith(proxy.url, seed)
    expect(received(report).filter((text) => text.startsWith(onReusedConnection))).toEqual([])
    expect(received(report).join('\n')).toContain('the answers to one request differ')
  })

  test.each([1, 2, 3])('uploads that become readable later, seed %i', async (seed) => {
    const service = await upstream({ variants: ['settling/uploads'], settleMs: 1500 })
    const report = await judgeWith(at(await haproxy(http() + backend(service))), seed)
    expect(failedIds(report)).toEqual([])
  })
})
