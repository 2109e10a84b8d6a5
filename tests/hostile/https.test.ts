import tls from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { judgeHostile } from './judge-hostile.ts'
import { http, listenOn } from '../support/raw-server.ts'
import { pem } from '../wire/servers.ts'

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
  expect((await judge(false)).report.exit.because).toContain('certificate not accepted')
  const { code, texts } = await judge(true)
  expect(code).toBe(1)
  for (const name of ['terminal', 'html', 'markdown'] as const)
    expect(texts[name]).toMatch(/insecure|not verified/i)
})
