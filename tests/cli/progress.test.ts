import { Writable } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { showProgress } from '../../cli/run/one-run.ts'
import { result } from '../gates/results.ts'
import { unsafe } from '../reporters/hostile.ts'

afterEach(() => vi.useRealTimers().unstubAllEnvs())

function written(about: object = {}) {
  const texts: string[] = []
  const stream = new Writable({ write: (chunk, _, done) => (texts.push(String(chunk)), done()) })
  return { texts, stream: Object.assign(stream, about) as unknown as NodeJS.WriteStream }
}
const ids = Array.from({ length: 299 }, (_, at) => `jobs.create/${at}`)
const planned = ['jobs.create/202-created', ...ids]

test.each([{}, { isTTY: true }])(
  'a log, or a dumb terminal (%j), gets a line every 10 s',
  (about) => {
    vi.stubEnv('TERM', 'dumb')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const { stream, texts } = written(about)
    // What is left out is no part of what there is to judge.
    const results = [
      result('jobs.create/202-created', { outcome: 'failed' }),
      result('files.list/2xx-accepted', { outcome: 'not-exercised' }),
    ]
    const end = showProgress(stream, planned, new Map(results.map((one) => [one.id, one])))
    vi.advanceTimersByTime(9_000)
    expect(texts).toEqual([])
    vi.advanceTimersByTime(1_000)
    expect(texts).toEqual(['conform: 1 of 300 judged, 1 failed; 10.0 s; now files.list\n'])
    end()
    vi.advanceTimersByTime(60_000)
    expect(texts).toHaveLength(1)
  },
)

test('a terminal gets one line that fits it and is rewritten, without controls of a target', () => {
  vi.stubEnv('TERM', 'xterm')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const { stream, texts } = written({ isTTY: true, columns: 40 })
  const judged = { ...result('jobs.create/0'), operation: '\u001b[2J' }
  const end = showProgress(stream, planned, new Map([[judged.id, judged]]))
  vi.advanceTimersByTime(500)
  const [clear = '', home = '', line = '', ...more] = texts
  expect([clear, home]).toEqual(['\u001b[2K', '\u001b[1G'])
  expect(line).toBe('conform: 1 of 300 judged; 500 ms; now \\')
  expect(line).not.toMatch(unsafe)
  expect(more).toEqual([])
  end()
  expect(texts.slice(-2)).toEqual([clear, home])
})
