import pc from 'picocolors'
import { Writable } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import {
  progressLine,
  progressSentence,
  roundly,
  showProgress,
  timeLeft,
} from '../../cli/output/progress.ts'
import { result } from '../gates/results.ts'
import { unsafe } from '../reporters/hostile.ts'

const plain = pc.createColors(false)

afterEach(() => vi.useRealTimers())

test('progress is one line that fits the terminal, without controls of a target', () => {
  const standing = {
    judged: 133,
    of: 302,
    failed: 2,
    ms: 12_400,
    now: 'jobs.create',
    leftMs: 28_000,
  }
  const line = progressLine(standing, 90, plain)
  expect(line).toBe('█████████░░░░░░░░░░░ 133/302 · 2 failed · 12 s, about 30 s left · jobs.create')
  for (const columns of [30, 40, 50])
    expect(progressLine(standing, columns, plain).length).toBeLessThan(columns)
  const attack = { ...standing, failed: 0, now: '\u001b[2J' }
  expect(progressLine(attack, 80, plain)).not.toMatch(unsafe)
  expect(progressSentence(attack)).not.toMatch(unsafe)
})

test('the time left is estimated by the pace of a run, and is never less than its rate allows', () => {
  expect(timeLeft({ expected: 300, sent: 100, rate: 0 }, 10_000)).toBe(20_000)
  expect(timeLeft({ expected: 300, sent: 100, rate: 5 }, 10_000)).toBe(40_000)
  // Before anything was sent only the rate tells something.
  expect(timeLeft({ expected: 300, sent: 0, rate: 0 }, 10)).toBeUndefined()
  expect(timeLeft({ expected: 300, sent: 0, rate: 10 }, 10)).toBe(30_000)
  expect(timeLeft({ expected: 300, sent: 310, rate: 10 }, 10)).toBeUndefined()
  expect([400, 9000, 11_000, 119_000, 121_000].map(roundly)).toEqual([
    '1 s',
    '9 s',
    '15 s',
    '120 s',
    '3 min',
  ])
})

test('a log gets a line of progress every 10 s, which says what is waited for; a short run none', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  let text = ''
  const stream = new Writable({ write: (chunk, _, done) => ((text += String(chunk)), done()) })
  const ids = Array.from({ length: 299 }, (_, at) => `jobs.create/${at}`)
  const planned = new Set(['jobs.create/202-created', ...ids])
  const look = () => ({ planned, expected: 1000, sent: 500, rate: 0, jobs: 1 })
  const progress = await showProgress(stream as NodeJS.WriteStream, plain, look)
  progress.result(result('jobs.create/202-created', { outcome: 'failed' }))
  // What is left out is no part of what there is to judge.
  progress.result(result('files.list/2xx-accepted', { outcome: 'not-exercised' }))
  vi.advanceTimersByTime(9_000)
  expect(text).toBe('')
  vi.advanceTimersByTime(1_000)
  expect(text).toBe(
    'conform: 1 of 300 judged, 1 failed; 10 s, about 10 s left; now waiting for a job of the application\n',
  )
  progress.done()
  vi.advanceTimersByTime(60_000)
  expect(text.split('\n')).toHaveLength(2)
})
