import tls from 'node:tls'
import { expect, test } from 'vitest'
import { judgeHostile, type Shown } from './judge-hostile.ts'
import { proveJunit, proveSound } from './proof.ts'
import { http, listenOn, startRaw } from '../support/raw-server.ts'
import { pem } from '../wire/servers.ts'

/** Judges a server behind a certificate that nobody vouches for. */
async function judgeSelfSigned(insecure: boolean, only: string[] = []): Promise<Shown> {
  const serve = (socket: tls.TLSSocket): void => {
    const answer = (head: Buffer) => http(head.includes('GET /v1/files') ? 200 : 404, '{}')
    socket.on('error', () => undefined).on('data', (head) => socket.write(answer(head)))
  }
  const server = await listenOn(tls.createServer({ cert: pem('cert'), key: pem('key') }, serve))
  try {
    const limits = { timeoutMs: 20_000, jobTimeoutMs: 1000 }
    return await judgeHostile(server.url.replace('http:', 'https:'), {
      options: { insecure, only, depth: 'quick' },
      limits,
    })
  } finally {
    await server.close()
  }
}

test('a certificate that does not verify is refused', async () => {
  const outcome = await judgeSelfSigned(false)
  expect(outcome.code).toBe(3)
  expect(outcome.report.requirements[0]?.reason).toMatch(
    /cannot be judged: certificate not accepted: self-signed/,
  )
  proveSound(outcome, 'refused')
})

test('it is accepted where that is asked for, and every report for people says so', async () => {
  const outcome = await judgeSelfSigned(true, ['files.*', 'envelope/*'])
  expect(outcome.code).toBe(1)
  expect(outcome.report.run.insecure).toBe(true)
  for (const name of ['terminal', 'html', 'markdown'] as const)
    expect(outcome.texts[name]).toMatch(/insecure|not verified/i)
  proveSound(outcome, 'accepted')
})

test('a first answer that redirects to https on the same host ends the run and names the URL to use', async () => {
  const server = await startRaw(({ socket, headers, path }) => {
    socket.write(http(301, '', { location: `https://${headers['host']}${path}` }))
  })
  try {
    const outcome = await judgeHostile(`${server.url}/base`)
    const https = `${server.url.replace('http:', 'https:')}/base`
    expect(outcome.code).toBe(3)
    expect(outcome.report.run.requests).toBe(1)
    const reason = `${server.url}/base cannot be judged: it redirects to https: use ${https} (301 to ${https}/v1/files)`
    expect(outcome.report.requirements[0]?.reason).toBe(reason)
    proveSound(outcome, 'redirected')
  } finally {
    await server.close()
  }
})

test('the JUnit report of each of these runs is one', proveJunit)
