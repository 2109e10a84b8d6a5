import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { leftOut, targetReason, undeclaredReason } from '../../harness/report/reason.ts'
import type { Report } from '../../schemas/report.ts'
import { nextSteps } from '../../reporters/view/next-steps.ts'
import { failed, failure, missed, report, result } from '../gates/results.ts'
import { fails, inTerminal, mixed, sampleFailure, sampleReport } from './samples.ts'

const inFull = (of: Report) => inTerminal(of, { isVerbose: true })

const expired = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
const simulated = undeclaredReason(
  [['scenarios.a.b/429-quota-exceeded']],
  '{"scenarios": {"a.b/429-quota-exceeded": {"headers": {"x-simulate": "quota"}}}}',
)
const dead = targetReason('https://example.com', 'connection refused')
const { exchange } = failure()
const working = operations.map(({ id }) => result(`${id}/2xx-accepted`))
const response = { status: 500, headers: {}, body: '{"tpe":"InternalError"}' }
const broken = operations.map(({ id }) =>
  failed(`${id}/401-missing-credentials`, { exchange: { ...exchange!, response } }),
)
const statuses = (status: number) => [{ status, times: 40 }]
const absent = operations.slice(0, 10).map(({ id }) => ({ operation: id, answered: '404' }))
const eight = Array.from({ length: 8 }, (_, at) =>
  failed(`a.b/${at}`, { expected: `400 BadRequest ${at} ${'long '.repeat(80)}` }),
)
const huge = failed('a.b/1', {
  exchange: { ...exchange!, curl: `curl -d '${'x'.repeat(300_000)}'` },
})
const declare = 'To test 1 more requirement, declare keys.expired (+1); this writes the file:'
const rerun = 'Run only what failed'

/** Runs as a stranger meets them: how many lines each may have, and what to do next. */
const situations: Record<string, readonly [Report, number, ...unknown[]]> = {
  conformant: [report(working), 15],
  down: [
    report([missed('a.b/1', dead)], { statuses: [] }, { notJudged: dead.reason }),
    15,
    'Start the server or correct the address (https://example.com), and run again',
  ],
  'key rejected': [
    report(
      [result('envelope/shape'), missed('a.b/1', expired)],
      { statuses: statuses(401) },
      { notJudged: 'the key is not accepted' },
    ),
    15,
    'Give a key that the server accepts, and run again',
  ],
  '500 everywhere': [
    report(broken, { statuses: statuses(500), hints: ['every path gets the same error'] }),
    25,
    'Every path gets the same error',
    rerun,
  ],
  'half-built': [
    report([...working.slice(10), failed('a.b/1'), missed('a.b/2', expired)], { absent }),
    40,
    'Build the 10 missing operations (received 404), or declare what you do not offer:',
    'Fix a.b/1',
    declare,
    rerun,
  ],
  'eight failures': [report([...working, ...eight]), 40, 'Fix a.b/0 first, then 7 more', rerun],
  'a huge body': [report([...working, huge]), 40, 'Fix a.b/1', rerun],
  'recommendations after untested required checks': [
    report([...working, missed('a.b/1', expired), { ...failed('a.b/2'), level: 'should' }]),
    40,
    declare,
    'Fix a.b/2',
    rerun,
  ],
  'nothing but scenarios left to declare': [
    report([...working, missed('a.b/429-quota-exceeded', simulated)]),
    25,
    'To test 1 more requirement, declare a scenario for */429-quota-exceeded (+1), for example:',
  ],
  'not served but answering': [
    report(working, { notServed: [{ operation: 'vision.analyze', answered: '200' }] }),
    15,
    expect.stringMatching(/^Remove "not-served" .*: vision\.analyze \(200\)$/),
  ],
  interrupted: [
    report([...working, failed('a.b/1'), missed('a.b/2', leftOut('interrupted'))], {
      interrupted: true,
    }),
    40,
    'Fix a.b/1',
    'Run what failed and what was not tested',
  ],
}

test.each(Object.entries(situations))(
  '%s: one screen, and what to do next',
  (name, [of, most, ...next]) => {
    const text = inTerminal(of, { width: 80 }).trimEnd().split('\n')
    const rows = text.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0)
    expect(rows).toBeLessThanOrEqual(most)
    expect(inTerminal(of).trimEnd().split('\n').length).toBeLessThanOrEqual(most)
    const { hints = [] } = of.run
    expect(text.slice(0, hints.length + 1)).toEqual(['Example  https://example.com', ...hints])
    expect(text.includes('interrupted: only what was tested before the interrupt is judged')).toBe(
      name === 'interrupted',
    )
    expect(nextSteps(of).map((step) => step.text)).toEqual(next)
  },
)

test('what is declared not served and answers is beside the verdict', () => {
  const [of] = situations['not served but answering']!
  expect(inTerminal(of)).toMatch(
    /^Conformant: .*; declared not served but answering: vision\.analyze \(200\)\nexit 0/m,
  )
})

test('a failure is named once, and the rest is counted', () => {
  const recorded = inTerminal(report([...working, ...eight], { runs: 0 }))
  expect(recorded).toContain('\nand 3 more failures: --report html\n')
  const text = inTerminal(report([...working, ...eight]))
  expect(text.match(/^✗ /gm)).toHaveLength(5)
  expect(text.match(/a\.b\/3/g)).toHaveLength(1)
  expect(text).toContain('\nand 3 more failures: --verbose or --report html\n')
  expect(text.match(/^ {4}curl /gm)).toHaveLength(1)
})

test('a group is shown by its simplest example', () => {
  const big = (id: string, size: number) => {
    const request = { ...exchange!.request, body: 'x'.repeat(size) }
    return failed(id, { exchange: { ...exchange!, request } })
  }
  const rows = [big('a.b/400-x', 9000), big('c.d/400-x', 3), big('e.f/400-x', 50)]
  expect(inTerminal(report(rows))).toMatch(/^✗ c\.d\/400-x /m)
})

test('a failure shows what was sent, expected and received, how to see it again, and what the curl line lacks', () => {
  const one = sampleReport({ end: (at) => (at === 8 ? fails()() : {}) })
  const text = inTerminal(one).split('\n')
  const at = text.findIndex((line) => line.startsWith('✗ '))
  const { id } = one.requirements[8]!
  expect(text[at]).toBe(`✗ ${id}  required  §5, §7.1`)
  expect(text.slice(at + 2, at + 9)).toEqual([
    '    sent      POST /v1/applications/a-1/jobs with a valid body',
    '    expected  404 ResourceNotFound',
    '    received  404 NotFound',
    '    again',
    `      conform https://staging.example.com --only ${id} --seed 421`,
    '    curl',
    `      ${sampleFailure('').exchange!.curl}`,
  ])
  expect(inTerminal(report([failed('jobs.create/409', { takes: 'job-in-progress' })]))).toMatch(
    /^ {4}note {6}one request alone does not reproduce this: a job of the application must be running\. /m,
  )
})

const notTested = (...reasons: string[]) =>
  inFull(report([failed('a.b/0'), ...reasons.map((reason, at) => missed(`a.b/${at + 1}`, reason))]))

test('the reason of several requirements is shown once', () => {
  const stopped =
    'the target stopped answering; under way when it stopped: POST /v1/a (a.b/1), POST /v1/a (a.b/2)'
  expect(notTested(stopped, stopped, stopped)).toContain(`Not tested: 3\n  3  ${stopped}\n`)
})

test('--verbose groups what was not tested', () => {
  const of = sampleReport({ end: mixed })
  const { must, should } = of.summary
  const text = inFull(of)
  const untested = must.notExercised + should.notExercised
  const reason = 'declare resources.application'
  expect(text).toContain(`Not tested: ${untested}\n  ${untested}  ${reason}\n`)
  expect(text).toContain('Not applicable: ')
})

test('what a baseline expects is named once, and stale entries with the reason', () => {
  const baseline = {
    ...{ file: 'expected.json', expected: ['a.b/1'], notExercised: ['a.b/3'] },
    stale: [{ id: 'a.b/4', why: 'it passed' }],
    reasons: [{ id: 'a.b/3', reason: 'no such key yet' }],
  }
  const rows = [failed('a.b/1'), failed('a.b/2'), missed('a.b/3'), result('a.b/4')]
  const text = inTerminal(report(rows, { baseline }))
  expect(text.match(/^✗ \S+/gm)).toEqual(['✗ a.b/2'])
  for (const line of [
    'failed as expected  a.b/1',
    'stale entry         a.b/4: it passed',
    'not tested          a.b/3: no such key yet',
  ])
    expect(text).toContain(line)
})

test('text is broken to the width of a terminal: what follows is indented, what is copied stays whole', () => {
  const of = sampleReport({ end: mixed })
  const wide = inTerminal(of)
  for (const width of [80, 120]) {
    const text = inTerminal(of, { width })
    const long = text.split('\n').filter((line) => line.length > width)
    expect(long.filter((line) => !/^ {4,6}(?:conform|curl) /.test(line))).toEqual([])
    expect(text.replaceAll(/\s+/g, ' ')).toBe(wide.replaceAll(/\s+/g, ' '))
  }
  expect(inTerminal(of, { width: 50 })).toContain(
    '    sent      POST /v1/applications/a-1/jobs with\n              a valid body\n    expected  404',
  )
})
