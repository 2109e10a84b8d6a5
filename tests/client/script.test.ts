/** What a script says, and how it is played to a client. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import type { Forwarder, ResponseSink } from '../../harness/http/forwarder.ts'
import { playScript, scriptOf, stepText } from '../../traffic/client/script.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const server: Forwarder = {
  forward(_, sink) {
    sink.head(200, [], 'OK')
    sink.data(Buffer.from('{"data": []}'))
    sink.end()
    return { resume: () => undefined, abort: () => undefined }
  },
  close: async () => undefined,
}

/** Asks these paths one after the other; gives each answer in few words, and what the script saw. */
async function played(script: unknown, paths: readonly string[]) {
  const player = playScript(scriptOf(script, 'script.json'), server)
  const answers: string[] = []
  for (const [at, path] of paths.entries()) {
    let text = ''
    await new Promise<void>((resolve) => {
      const over = (end: string) => {
        answers.push(text + end)
        resolve()
      }
      const sink: ResponseSink = {
        head: (status, headers) => {
          const retry = headers.find(({ name }) => name === 'retry-after')
          text = `${status} ${retry ? `retry-after ${retry.value} ` : ''}`
        },
        data: (chunk) => {
          const body = chunk.toString()
          text += /"tpe":"(\w+)"/.exec(body)?.[1] ?? body.slice(0, 12)
          return true
        },
        end: () => over(''),
        cut: () => over(' cut'),
        fail: over,
      }
      player.forward({ method: 'GET', path, headers: [], n: at + 1 }, sink)
      void vi.advanceTimersByTimeAsync(10_000)
    })
  }
  return { answers, numbers: player.played.map(({ n }) => n), left: player.left() }
}

const list = '/v1/files'
const one = '/v1/files/a'

test('a script answers in its order, and then the server does', async () => {
  const steps = [{ status: 429, retryAfter: 1 }, 'pass', 503, 'reset', 'cut', 'page']
  const paths = Array.from({ length: 7 }, () => list)
  expect(await played({ 'files.list': steps }, paths)).toEqual({
    answers: [
      ...['429 retry-after 1 QuotaExceeded', '200 {"data": []}', '503 ServiceUnavailable'],
      ...[' cut', '200 {"data cut', '502 <html><head>', '200 {"data": []}'],
    ],
    numbers: [1, 3, 4, 5, 6],
    left: 0,
  })
})

test('"*" is a list for each operation that has none', async () => {
  const script = { '*': [500], 'files.retrieve': [403] }
  const { answers, left } = await played(script, [list, one, list, '/v1/files/b', '/other'])
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['500', '403', '200', '200', '200'])
  expect(left).toBe(0)
})

test('what nobody asked for is left, of operations that were asked', async () => {
  expect(await played({ '*': [500], 'files.list': [429, 503] }, [list])).toMatchObject({ left: 1 })
})

test('a delay comes before an answer of the script, and of the server', async () => {
  const began = vi.getTimerCount()
  const player = playScript(
    scriptOf({ '*': [{ delay: 300 }, { delay: 200, status: 503 }] }, ''),
    server,
  )
  const at: string[] = []
  const sink = {
    data: () => true,
    end: () => undefined,
    cut: () => undefined,
    fail: () => undefined,
  }
  for (let n = 1; n <= 2; n++)
    player.forward(
      { method: 'GET', path: list, headers: [], n },
      { ...sink, head: (status) => void at.push(`${n}: ${status}`) },
    )
  await vi.advanceTimersByTimeAsync(199)
  expect(at).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(at).toEqual(['2: 503'])
  await vi.advanceTimersByTimeAsync(100)
  expect(at).toEqual(['2: 503', '1: 200'])
  // A client that breaks off is waited for no more.
  player
    .forward({ method: 'GET', path: one, headers: [], n: 3 }, { ...sink, head: () => undefined })
    .abort()
  expect(vi.getTimerCount()).toBe(began)
})

const form =
  'give "page", "pass", "cut", "reset", a status, or {"answer", "status", "tpe", "retryAfter", "delay"}'

test.each<[script: unknown, message: string]>([
  [[], 'script.json: must be an object of operations'],
  [
    { 'job.create': [429] },
    'script.json: job.create: is not an operation; did you mean jobs.create?',
  ],
  [{ '*': [] }, 'script.json: *: give a list of answers'],
  [{ '*': ['429'] }, `script.json: *[0]: "429": ${form}`],
  [
    { '*': [429, { status: 503, retryafter: 1 }] },
    'script.json: *[1].retryafter: is not a member; did you mean retryAfter?',
  ],
  [{ '*': [200] }, 'script.json: *[0].status: give the status of an error, 400 to 599'],
  [{ '*': [{ status: 429, retryAfter: 0.5 }] }, 'script.json: *[0].retryAfter: give whole seconds'],
  [{ '*': [418] }, 'script.json: *[0].tpe: give the name of an error'],
  [{ '*': [{ delay: '1s' }] }, 'script.json: *[0].delay: give whole milliseconds, at most 3600000'],
  [
    { '*': [{ answer: 'reset', status: 503 }] },
    'script.json: *[0].status: goes with an error or a page alone',
  ],
])('a script that is none: %j', (script, message) => {
  expect(() => scriptOf(script, 'script.json')).toThrow(message)
})

test('a 503 is ServiceUnavailable; another status has the type that the operation gives with it', () => {
  const script = { 'translate.run': [503, 429, 401], 'files.list': [503, 500], '*': [504] }
  expect(() => scriptOf(script, '')).toThrow('*[0].tpe')
  const given = { ...script, '*': [503, { answer: 'page', status: 504 }, 'reset', { delay: 5 }] }
  const texts = [...scriptOf(given, '').values()].flat().map(stepText)
  expect(texts).toEqual([
    ...['503 ServiceUnavailable', '429 QuotaExceeded', '401 BadCredentials'],
    ...['503 ServiceUnavailable', '500 InternalError', '503 ServiceUnavailable'],
    ...["504 a gateway's page", 'with a closed connection', 'by the server after 5 ms'],
  ])
})

test('what cannot be done is said before anything listens', async () => {
  vi.useRealTimers()
  const cwd = folder()
  writeFileSync(join(cwd, 'script.json'), '{"files.list": [429')
  const calls: [args: string[], message: string][] = [
    [['--report', 'json'], 'conform: --report: give --judge-client too\n'],
    [['--script', 'script.json'], 'conform: script.json: is not JSON at line 1, column 20\n'],
    [['--judge-client', '--script', 'none.json'], 'conform: none.json: does not exist\n'],
    [
      ['--judge-client', '--report', 'html'],
      'conform: --report html: html is not a format here (json, junit, markdown)\n',
    ],
    [
      ['--judge-client', '--script', 'script.json', '--report', 'json=script.json'],
      'conform: --report json=script.json: would overwrite the script; give another file\n',
    ],
  ]
  for (const [args, stderr] of calls)
    expect(await conform(['serve', ...args], { cwd }), args.join(' ')).toMatchObject({
      code: 2,
      stdout: '',
      stderr,
    })
})
