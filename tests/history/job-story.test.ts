import { expect, test } from 'vitest'
import { storyDiagram } from '../../reporters/html/exchange.ts'
import { mermaidDiagram } from '../../scripts/site/requirement-text.ts'
import { storyLines, textDiagram } from '../../reporters/view/evidence.ts'
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

test('a reading is told from the creation of its own job, and a faulty creation as one', () => {
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

test('what stands alone is no story, and of a long one the middle is counted', () => {
  expect(told('0 a: 400 BadRequest', 0)).toBeUndefined()
  const readings = Array.from({ length: 30 }, (_, at) => `${10 * (at + 1)} j1: in_progress`)
  const lines = told(['0 a: 202 j1', ...readings, '400 a: 202 j2'].join('\n'), 31)!
  expect(lines).toHaveLength(15)
  expect(lines[4]).toBe('18 more')
  expect(lines.at(-1)).toContain('✗ this one')
})

test('the diagram has a lifeline for each job, the wrong answer marked, and says all of it to who does not see it', () => {
  const history = historyOf('0 a: 202 j1\n10 a: 202 j2\n20 j1: in_progress')
  const svg = storyDiagram(storyOf(history, history.events[1]!.exchange)!)
  for (const name of ['suite', 'application', 'job A', 'job B'])
    expect(svg).toContain(`>${name}</text>`)
  expect(svg.match(/<g class="f">/g)).toHaveLength(1)
  // A page may have several: none of them is a landmark.
  expect(svg).toContain('role="group" aria-label="What happened" tabindex="0"')
  expect(svg).toContain('✗ 202 job B in_progress')
  expect(svg).toMatch(
    /aria-label="What happened: 0 ms {2}create a job → 202 job A in_progress; .*this one/,
  )
})

test('as text the diagram keeps its lifelines in one column each, and marks the wrong answer', () => {
  const history = historyOf('0 a: 202 j1\n10 a: 202 j2\n20 j1: in_progress')
  const story = storyOf(history, history.events[1]!.exchange)!
  expect(textDiagram(story, (line) => `!${line}`)).toEqual([
    '         suite                          application      job A     job B',
    '     0 ms  ├─ create a job ─────────────────▶│',
    '           │◀─ 202 job A in_progress ────────┼────────────▶●',
    '    10 ms  ├─ create a job ─────────────────▶│             │',
    '!           │◀─ ✗ 202 job B in_progress ──────┼──────────────────────▶●',
    '    20 ms  ├─ read job A ─────────────────────────────────▶│         │',
    '           │◀─ 200 in_progress ────────────────────────────┤         │',
  ])
  const many = [1, 2, 3, 4, 5].map((n) => `${n} a: 202 j${n}`)
  const burst = historyOf([...many, '10 j5: in_progress'].join('\n'))
  const lines = textDiagram(storyOf(burst, burst.events[5]!.exchange)!, String)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80)
  const readings = Array.from({ length: 30 }, (_, at) => `${10 * (at + 1)} j1: in_progress`)
  const long = historyOf(['0 a: 202 j1', ...readings, '400 a: 202 j2'].join('\n'))
  const folded = storyOf(long, long.events[31]!.exchange)!
  expect(textDiagram(folded, String)[9]).toBe('           ┊ 18 more')
  expect(mermaidDiagram(folded)).toContain('Note over suite: 18 more')
})

test('in the language of Mermaid each lifeline is a participant, and the wrong answer has a colour', () => {
  const history = historyOf('0 a: 202 j1\n10 a: 202 j2\n20 j1: in_progress')
  expect(mermaidDiagram(storyOf(history, history.events[1]!.exchange)!).split('\n  ')).toEqual([
    'sequenceDiagram',
    'participant suite as suite',
    'participant application as application',
    'participant jobA as job A',
    'participant jobB as job B',
    'suite->>application: create a job, 0 ms',
    'application-->>suite: 202 job A in_progress',
    'application->>jobA: begins',
    'suite->>application: create a job, 10 ms',
    'rect rgba(207, 74, 62, 0.25)',
    'application-->>suite: ✗ 202 job B in_progress',
    'end',
    'application->>jobB: begins',
    'suite->>jobA: read job A, 20 ms',
    'jobA-->>suite: 200 in_progress',
  ])
})
