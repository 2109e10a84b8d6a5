import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { faultyProxy, type Faults } from '../support/faulty-proxy.ts'
import { freePort } from '../support/raw-server.ts'
import { at, expectNotJudged, expectPassed, few, judge, nginx, only, proxied } from './servers.ts'
import { programs, started, upstream } from './servers.ts'
import { brokenReplica, locksOut, type Meddling, meddler } from './meddler.ts'

// Roads that lose, instances that disagree, quotas, lock-outs and a cache: verdict, exit code and first sentence of each.

const whole = ['--seed', '3', '--runs', '2']

/** A faulty proxy before servers that know the same; its URL. */
async function behind(upstreams: readonly number[], faults: Faults): Promise<string> {
  const proxy = await faultyProxy(upstreams, faults)
  onTestFinished(() => proxy.close())
  return proxy.url
}

async function meddled(how: Meddling): Promise<string> {
  const proxy = await meddler(await upstream(), how)
  onTestFinished(() => proxy.close())
  return proxy.url
}

describe('a road that loses accuses nobody', () => {
  test.each<[string, Omit<Faults, 'seed'>]>([
    ['one connection of twenty reset', { reset: 0.05 }],
    ['one answer of fifty cut', { cut: 0.02 }],
    ['40 ms, and losses', { delayMs: 40, reset: 0.01, cut: 0.01 }],
  ])('%s', async (_, faults) => {
    for (const seed of [1, 2, 3]) {
      const ended = await judge(await behind([await upstream()], { seed, ...faults }))
      expectPassed(ended, `${seed}: `)
    }
  })

  test('two backends that know the same', async () => {
    const port = await upstream()
    expectPassed(await judge(await behind([port, port], { seed: 1 })))
  })
})

describe('instances that disagree are reported once, before all causes', () => {
  test('one broken of three, by the header that tells it', async () => {
    const ended = await judge(await meddled(brokenReplica('x-served-by')), {}, whole)
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(
      /Likely causes? of \d+ (?:of \d+ )?failures\n +\d+ +answers differ from one time to the next: \d+ of \d+ answers were 500 InternalError, nearly all of them and nearly no others with x-served-by: instance-1\n/,
    )
    expect(ended.stdout).not.toMatch(/nearly everything|grant them|check resources/)
  })

  test('one broken of three that nothing tells apart', async () => {
    const ended = await judge(await meddled(brokenReplica()), {}, whole)
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(
      /answers differ from one time to the next: \d+ of \d+ answers were 500 InternalError\n +it looks as if one instance of several is broken/,
    )
    expect(ended.stdout).not.toMatch(/nearly everything|grant them|check resources/)
  })
})

test('a server that lets nobody in after ten wrong keys is reported as such', async () => {
  const ended = await judge(await meddled(locksOut(10)), {}, whole)
  expectNotJudged(ended, /^exit 3: the target locks keys out after wrong ones/)
})

describe.skipIf(programs.nginx === undefined)('a quota', () => {
  test('of five a second, with Retry-After', async () => {
    const zone = 'limit_req_zone $binary_remote_addr zone=q:1m rate=5r/s; limit_req_status 429;'
    const more = 'limit_req zone=q burst=10 nodelay; add_header Retry-After 1 always;'
    const port = await nginx(`${zone} ${proxied(await upstream(), more)}`)
    const ended = await judge(at(port), {}, [...only('files.list/*'), '--rate', '4', '--seed', '1'])
    expectPassed(ended)
  })
})

const varnish = ['/usr/sbin/varnishd'].find((path) => existsSync(path))
if (varnish === undefined)
  process.stderr.write('SKIPPED: varnishd is not installed; apt-get install varnish\n')

/** Varnish before that port, with more of its language, until the test ends. */
async function cached(to: number, more = ''): Promise<string> {
  const port = await freePort()
  const dir = folder()
  const file = join(dir, 'field.vcl')
  writeFileSync(file, `vcl 4.1; backend one { .host = "127.0.0.1"; .port = "${to}"; }\n${more}\n`)
  const place = join(dir, 'varnish')
  mkdirSync(place)
  const child = spawn(
    varnish!,
    ['-j', 'none', '-F', '-a', `127.0.0.1:${port}`, '-f', file, '-n', place],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  await started(child, port)
  return at(port)
}

describe.skipIf(varnish === undefined)('behind Varnish', () => {
  test('as it is installed, the service is judged as without it', async () => {
    expectPassed(await judge(await cached(await upstream())))
  })

  test('a cache that looks at no key is named', async () => {
    const careless =
      'sub vcl_recv { if (req.method == "GET") { return (hash); } } sub vcl_backend_response { set beresp.ttl = 60s; }'
    const ended = await judge(await cached(await upstream(), careless), {}, [
      ...few,
      ...only('jobs.retrieve/*'),
    ])
    expect(ended.code).toBe(1)
    expect(ended.stdout).toMatch(
      /^ +12 +requests without a right key are granted\n +refuse them with 401; a cache answers, as the header (?:age|x-varnish) says:/m,
    )
  })
})
