import { expect, test } from 'vitest'
import { storyMarkup } from '../../reporters/html.ts'
import { storyLines } from '../../reporters/view/evidence.ts'
import { storyOf } from '../../suites/jobs/story.ts'
import { historyOf } from './stories.ts'

/** The story up to the event at that place, on lines. */
function told(text: string, at: number): string[] | undefined {
  const history = historyOf(text)
  const story = storyOf(history, history.events[at]!.exchange)
  return story && storyLines(story).map((line) => line.trim())
}

test('a story begins with the creation of the job that was there, and ends with what proves its state', () => {
  const text = `0 a: 202 j1
    10 j1: completed
    100 a: 202 j2
    110 j2: in_progress
    120 b: 202 j3
    130 a: 202 j4
    140 j2: in_progress
    150 j2: completed`
  expect(told(text, 5)).toEqual([
    '0 ms  create a job → 202 job A in_progress',
    '10 ms  read job A → 200 in_progress',
    '30 ms  create a job → 202 job B in_progress  ✗ this one',
    '40 ms  read job A → 200 in_progress',
  ])
})

test('a reading is distinguished from the creation of its own job, and a faulty creation as one', () => {
  const text = `0 a: 202 j1
    10 j1: completed
    20 a/400-missing-inputs: 400 BadRequest
    30 a: 409 BadRequest
    40 j1: in_progress`
  expect(told(text, 4)).toEqual([
    '0 ms  create a job → 202 job A in_progress',
    '10 ms  read job A → 200 completed',
    '20 ms  create a job, with a fault → 400 BadRequest',
    '30 ms  create a job → 409 BadRequest',
    '40 ms  read job A → 200 in_progress  ✗ this one',
  ])
})

test('a single item is no story, and of a long one the middle is counted', () => {
  expect(told('0 a: 400 BadRequest', 0)).toBeUndefined()
  const readings = Array.from({ length: 30 }, (_, at) => `${10 * (at + 1)} j1: in_progress`)
  const lines = told(['0 a: 202 j1', ...readings, '400 a: 202 j2'].join('\n'), 31)!
  expect(lines).toHaveLength(15)
  expect(lines[4]).toBe('18 more')
  expect(lines.at(-1)).toContain('✗ this one')
})

test('the page has the same lines, the wrong answer marked', () => {
  const history = historyOf('0 a: 202 j1\n10 a: 202 j2\n20 j1: in_progress')
  const markup = storyMarkup(storyOf(history, history.events[1]!.exchange)!)
  expect(markup.match(/<mark>.*<\/mark>/g)).toEqual([
    expect.stringContaining('create a job → 202 job B in_progress  ✗ this one'),
  ])
})
