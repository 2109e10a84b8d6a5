/** Every rule about jobs as a table of histories: no server, no clock. */
import { describe, expect, test } from 'vitest'
import { Journal } from '../../harness/journal/journal.ts'
import { jobRules } from '../../suites/jobs/rules.ts'
import { historyOf, tablesIn } from './stories.ts'

const busy = (): string => '0 a: 202 j1; 20 j1: in_progress'

const times = (count: number | string, make: (at: number) => string): string =>
  Array.from({ length: Number(count) }, (_, at) => make(at)).join('; ')

/** A job from creation to end, that many ms after the beginning of the story. */
const job = (name: string, from: number | string, on = 'a'): string =>
  `${from} ${on}: 202 ${name}; ${+from + 10} ${name}: in_progress; ${+from + 20} ${name}: completed`

/** Creations that are answered 409, a second apart. */
const refusals = (from: string, count: string, on = 'a'): string =>
  times(count, (at) => `${+from + 1000 * at} ${on}: 409`)

/** Creations on an application that are refused while another one has a job, and granted after that. */
const blocked = (count: string, on = 'b', from = '0'): string =>
  times(count, (n) => {
    const [at, name] = [(+from + n) * 9000, `j${+from + n}`]
    return `${at} a: 202 ${name}1; ${at + 10} ${on}: 409; ${at + 20} ${name}1: in_progress; \
${at + 30} ${name}1: completed; ${at + 40} ${on}: 202 ${name}2; ${at + 60} ${name}2: completed`
  })

/** Simultaneous creations that are all refused, and a single one that is accepted that many ms before the next. */
const bursts = (count: string, apartMs = '3000', on = 'a', from = '0'): string =>
  times(count, (at) => {
    const start = +from + at * (1000 + +apartMs)
    return `${start}-${start + 10} ${on}: 409; ${start + 1}-${start + 10} ${on}: 409; \
${job(`j${+from / 10_000}${at}`, start + 970, on)}`
  })

/** Looks that each end in a 409 after a refusal, with jobs in between that nothing was refused before, or their refusal. */
function looks(names: string, from = '0', between = '202'): string {
  const all = names.split(',')
  return times(all.length, (at) => {
    const start = +from + at * 6000
    const bare = times(4, (n) =>
      between === '202' || n === 0
        ? job(`${all[at]}${n}`, start + 2500 + 100 * n)
        : `${start + 2500 + 100 * n} a: 409`,
    )
    return `${start + 100} a/bad: 400; ${start + 110} a: 409; ${bare}`
  })
}

/** An ended job that reads its data, and other data after a newer job has ended with some of its own. */
function results(own: string, later: string, newer = '"two"'): string {
  return `0 a: 202 j1; 10 j1: completed data={"title":${own}}; 100 a: 202 j2; \
110 j2: completed data={"title":${newer}}; 3000 j1: completed data={"title":${later}}`
}

const functions = { busy, job, refusals, blocked, bursts, looks, results }
const tables = tablesIn<keyof typeof jobRules>('job-rules.txt', functions)

describe.each(tables)('%s', (id, stories) => {
  test.each(stories)('%s: %s', (outcome, _, story) => {
    const [live, recorded = live] = outcome.split('/')
    const verdicts = [false, true].map((is) => jobRules[id].rule(historyOf(story, is)))
    const told = JSON.stringify(verdicts, ['outcome', 'why', 'what', 'expected', 'actual'])
    expect(
      verdicts.map((verdict) => verdict.outcome),
      told,
    ).toEqual([live, recorded])
  })

  test('judged as it grows, a history ends in the same verdict', () => {
    for (const [, , story] of stories) {
      for (const isRecorded of [false, true]) {
        const whole = historyOf(story, isRecorded)
        const growing = new Journal(whole.limits, isRecorded)
        for (const event of whole.events) {
          growing.append(event)
          jobRules[id].rule(growing)
        }
        expect(jobRules[id].rule(growing)).toEqual(jobRules[id].rule(whole))
      }
    }
  })
})

test('somebody else may use an application that is not of the run: a failure says so, and a recording proves nothing', () => {
  const judge = (id: keyof typeof jobRules, story: string, isRecorded = true) =>
    JSON.stringify(jobRules[id].rule(historyOf(story, isRecorded)))
  const kept = `${job('j1', 10)}; ${refusals('100', '3')}`
  expect(judge('jobs.create/409-released', kept)).toContain('"open"')
  expect(judge('jobs.create/409-released', kept, false)).toContain('of another run')
  const ofRun = judge('jobs.create/409-released', `0 a: made; ${kept}`)
  expect(ofRun).toContain('"broken"')
  expect(ofRun).not.toContain('of another run')
  const second = `${busy()}; 30 a: 202 j2; 40 j1: in_progress`
  expect(judge('jobs.create/409-job-in-progress', second)).toContain('"broken"')
})
