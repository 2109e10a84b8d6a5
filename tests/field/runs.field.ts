import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { onReusedConnection } from '../../harness/engine/describe.ts'
import { type ReferenceOptions, startReference } from '../../reference/server.ts'
import {
  backend,
  certificates,
  haproxy,
  judge,
  lastLine,
  nginx,
  programs,
  proxied,
  reportOf,
  upstream,
} from './servers.ts'
import { freePort } from '../support/raw-server.ts'

// What is judged to its end: whatever stands in front, no requirement is named that the service keeps.

const failedIds = ({ requirements }: Report): string[] =>
  requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)

/** Lists the response that each failure shows. */
const received = ({ requirements }: Report): string[] =>
  requirements.flatMap(({ failures }) => failures.map(({ actual }) => actual))

const at = (port: number): string => `http://127.0.0.1:${port}`
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
    const ended = await judge(await start())
    expect(lastLine(ended), ended.stdout).toMatch(/^exit 0: no must failed/)
  })

  test('HTTP/2 preferred by TLS, and HTTP/1.1 taken', async () => {
    const { both: pem, ca } = certificates()
    const bind = `frontend f\n  bind 127.0.0.1:{port} ssl crt ${pem} alpn h2,http/1.1\n  default_backend service\n`
    const ended = await judge(
      `https://127.0.0.1:${await haproxy(bind + backend(await upstream()))}`,
      { tls: { ca } },
    )
    expect(lastLine(ended), ended.stdout).toMatch(/^exit 0: no must failed/)
  })
})

describe.skipIf(!both)('a limit of requests is told as that', () => {
  test.each([
    ['429', 'limit_req_status 429;'],
    ['503', ''],
  ])('limit_req, %s', async (status, more) => {
    const zone = `limit_req_zone $binary_remote_addr zone=z:1m rate=20r/s; ${more}`
    const url = at(
      await nginx(`${zone} ${proxied(await upstream(), 'limit_req zone=z burst=5 nodelay;')}`),
    )
    const only = ['files.retrieve/*', 'translate.run/*', 'files.upload/2xx-*']
    const ended = await judge(url, {}, [
      ...only.flatMap((id) => ['--only', id]),
      '--runs',
      '2',
      '--seed',
      '1',
      '--report',
      'json',
    ])
    const report = reportOf(ended)
    expect(failedIds(report), ended.stdout).toEqual([])
    const reasons = report.requirements
      .flatMap(({ reason }) => reason ?? [])
      .filter((reason) => reason.includes(status))
    expect(reasons.filter((reason) => !reason.startsWith('throttled'))).toEqual([])
    const [, rate] =
      /; --rate (\d+(?:\/min)?) asks for no more than it took/.exec(ended.stdout) ?? []
    expect(Number(rate)).toBeGreaterThan(5)
    expect(Number(rate)).toBeLessThan(40)
  })
})

describe.skipIf(!both)('a restart in the middle of a run', () => {
  const steady = [
    'files.list/*',
    'files.retrieve/*',
    'translate.run/*',
    'ai-detect.run/*',
    'envelope/*',
  ]
  const args = [
    ...steady.flatMap((id) => ['--only', id]),
    '--runs',
    '2',
    '--seed',
    '1',
    '--rate',
    '40',
    '--report',
    'json',
  ]

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
    expect(ended.code).toBe(3)
    expect(lastLine(ended)).toMatch(
      /^exit 3: the target stopped answering: a gateway answered, and not the service behind it: 502 with a page: 502 Bad Gateway, nginx/,
    )
    expect(failedIds(reportOf(ended)).filter((id) => !id.startsWith('envelope/'))).toEqual([])
  })
})

describe.skipIf(!both)('three seeds, and no connection is blamed', () => {
  const all = ['files.*', 'graphs.*', 'pdf.*', 'translate.run/*'].flatMap((id) => ['--only', id])
  const runs = [1, 2, 3].map((seed) => [
    ...all,
    '--runs',
    '2',
    '--seed',
    String(seed),
    '--report',
    'json',
  ])

  test.each(runs.map((args, at) => [at + 1, args] as const))(
    'replicas without shared state, seed %i',
    async (_, args) => {
      const sides = [await upstream(), await upstream()].map(
        (port, side) => `  server s${side} 127.0.0.1:${port}\n`,
      )
      const layer4 = `frontend f\n  mode tcp\n  bind 127.0.0.1:{port}\n  default_backend service\nbackend service\n  mode tcp\n  balance roundrobin\n`
      const report = reportOf(await judge(at(await haproxy(layer4 + sides.join(''))), {}, args))
      expect(failedIds(report).length).toBeGreaterThan(0)
      expect(received(report).filter((text) => text.startsWith(onReusedConnection))).toEqual([])
      // What needs no state is kept by each of them.
      const stateless = /^translate\.run|\/40[13]-|^files\.list\/2|^files\.retrieve/
      expect(failedIds(report).filter((id) => stateless.test(id))).toEqual([])
      expect(received(report).join('\n')).toContain('the answers to one request differ')
    },
  )

  test.each(runs.map((args, at) => [at + 1, args] as const))(
    'a fault in every third answer, seed %i',
    async (_, args) => {
      const { url } = await faulty({ every: 3 })
      const report = reportOf(await judge(url, {}, args))
      expect(received(report).filter((text) => text.startsWith(onReusedConnection))).toEqual([])
      expect(received(report).join('\n')).toContain('the answers to one request differ')
    },
  )

  test.each(runs.map((args, at) => [at + 1, args] as const))(
    'uploads that become readable later, seed %i',
    async (_, args) => {
      const service = await upstream({
        variants: ['settling/uploads'],
        settleMs: 1500,
      } satisfies ReferenceOptions)
      const report = reportOf(await judge(at(await haproxy(http() + backend(service))), {}, args))
      expect(failedIds(report)).toEqual([])
    },
  )
})

/** A gateway that answers 500 in place of one of so many answers of the service. */
async function faulty({ every }: { every: number }): Promise<{ url: string }> {
  const { createServer, request } = await import('node:http')
  const service = await upstream()
  let count = 0
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const onward = request(
      { host: '127.0.0.1', port: service, method, path, headers },
      (answer) => {
        if (++count % every !== 0)
          return void answer.pipe(outgoing.writeHead(answer.statusCode!, answer.headers))
        answer.resume()
        outgoing.writeHead(500, { 'content-type': 'application/json' })
        outgoing.end(JSON.stringify({ tpe: 'InternalError', errors: [], extras: {} }))
      },
    )
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: at((server.address() as { port: number }).port) }
}
