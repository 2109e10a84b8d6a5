import tls from 'node:tls'
import { untilItAnswers } from '../../cli/run/start-server.ts'
import { nextSteps } from '../../reporters/view/next-steps.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { judgeHostile } from './judge-hostile.ts'
import { http, listenOn } from '../support/raw-server.ts'
import { lines, pem } from '../wire/servers.ts'

test('a certificate that does not verify is accepted where that is asked for, and every report for people says so', async () => {
  const serve = (socket: tls.TLSSocket): void => {
    const answer = (head: Buffer) => http(head.includes('GET /v1/files') ? 200 : 404, '{}')
    socket.on('error', () => undefined).on('data', (head) => socket.write(answer(head)))
  }
  const server = await listenOn(tls.createServer({ cert: pem('cert'), key: pem('key') }, serve))
  onTestFinished(() => server.close())
  const judge = (insecure: boolean) =>
    judgeHostile(server.url.replace('http:', 'https:'), {
      options: { insecure, only: ['files.*'], depth: 'quick' },
      limits: { timeoutMs: 20_000, jobTimeoutMs: 1000 },
    })
  const { report } = await judge(false)
  expect(report.exit.because).toContain('certificate not accepted')
  expect(nextSteps(report)).toEqual([])
  const { code, texts } = await judge(true)
  expect(code).toBe(1)
  for (const name of ['terminal', 'html', 'markdown'] as const)
    expect(texts[name]).toMatch(/insecure|not verified/i)
})

test('a wait for the target ends at a certificate that does not verify, and sends it nothing', async () => {
  let seen = ''
  const serve = (socket: tls.TLSSocket): void =>
    void socket
      .on('error', () => undefined)
      .on('data', (data: Buffer) => {
        seen += data.toString()
        socket.write(http(200, '{}'))
      })
  const server = await listenOn(tls.createServer({ cert: pem('cert'), key: pem('key') }, serve))
  onTestFinished(() => server.close())
  const baseUrl = server.url.replace('http:', 'https:')
  const reached = { baseUrl, headers: lines(['x-token', 'secret']), tls: {} }
  const wait = (insecure: boolean) =>
    untilItAnswers({ ...reached, insecure }, 20_000, new AbortController().signal)
  expect(await wait(false)).toBeUndefined()
  expect(seen).toBe('')
  expect(await wait(true)).toBeUndefined()
  expect(seen).toContain('x-token: secret')
})

test('a proxy that cannot be used is named, and no step says to start the server', async () => {
  const closed = await listenOn(tls.createServer())
  await closed.close()
  vi.stubEnv('HTTP_PROXY', closed.url)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { report } = await judgeHostile('http://target.example', { options: { only: ['files.*'] } })
  expect(report.exit.because).toContain('(HTTP_PROXY) cannot be used: connection refused at')
  expect(nextSteps(report)).toEqual([])
})
