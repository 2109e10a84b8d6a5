import { XMLParser } from 'fast-xml-parser'
import pc from 'picocolors'
import { expect, test } from 'vitest'
import {
  decided,
  decisive,
  type ExitOptions,
  outsideCause,
  withProblems,
} from '../../harness/report/exit-code.ts'
import { leftOut, mistakeReason } from '../../harness/report/reason.ts'
import type { Report, RequirementResult } from '../../harness/report/report-schema.ts'
import { renderCtrf } from '../../reporters/ctrf.ts'
import { githubAnnotations } from '../../reporters/github.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { failed, missed, notApplicable, report, result } from './results.ts'

const should = (id: string): RequirementResult => ({ ...failed(id), level: 'should' })
const baseline = (change: Partial<NonNullable<Report['run']['baseline']>>) => ({
  ...{ file: 'baseline.json', expected: [], stale: [], notExercised: [] },
  ...change,
})
const stale = (id: string, why: string) => ({ stale: [{ id, why }] })

/** Every way of ending, with its last line. */
const endings: readonly (readonly [string, Report])[] = [
  ['exit 0: no required check failed', report([result('a.b/1'), notApplicable('a.b/2')])],
  ['exit 0: no required check failed, 1 not tested', report([result('a.b/1'), missed('a.b/2')])],
  [
    'exit 0: no required check failed, 1 not tested, 2 left out',
    report([
      result('a.b/1'),
      missed('a.b/2'),
      missed('a.b/3', leftOut('--only')),
      missed('a.b/4', leftOut('--skip')),
      { ...missed('a.b/5', leftOut('--only')), level: 'should' },
    ]),
  ],
  [
    'exit 0: no required check failed; 1 recommendation failed (not decisive)',
    report([result('a.b/1'), should('a.b/2')]),
  ],
  ['exit 1: 1 required check failed', report([result('a.b/1'), failed('a.b/2'), should('a.b/3')])],
  [
    'exit 1: 1 required check and 1 recommendation failed',
    report([failed('a.b/2'), should('a.b/3')], { strict: true }),
  ],
  [
    'exit 0: 2 failures, all expected by baseline.json',
    report([failed('a.b/1'), failed('a.b/2')], {
      baseline: baseline({ expected: ['a.b/1', 'a.b/2'] }),
    }),
  ],
  [
    'exit 0: 1 failure, expected by baseline.json',
    report([should('a.b/1'), result('a.b/2')], {
      strict: true,
      baseline: baseline({ expected: ['a.b/1'] }),
    }),
  ],
  [
    'exit 1: 2 required checks failed that the baseline does not expect',
    report([failed('a.b/1'), failed('a.b/2'), failed('a.b/3')], {
      baseline: baseline({ expected: ['a.b/3'] }),
    }),
  ],
  [
    'exit 1: 1 entry of baseline.json is stale',
    report([result('a.b/1')], { baseline: baseline(stale('a.b/1', 'it passed')) }),
  ],
  [
    'exit 1: 1 failure is not as baseline.json expects',
    report([should('a.b/1'), result('a.b/2')], {
      baseline: baseline(stale('a.b/1', 'it fails otherwise: ...')),
    }),
  ],
  [
    'exit 1: 2 required checks were not tested (--require-exercised)',
    report(
      [result('a.b/1'), missed('a.b/2'), missed('a.b/3'), missed('a.b/4', leftOut('--skip'))],
      {},
      { requireExercised: true },
    ),
  ],
  [
    'exit 1: 1 required check failed; 1 required check was not tested (--require-exercised)',
    report([failed('a.b/1'), missed('a.b/2')], {}, { requireExercised: true }),
  ],
  ['exit 3: the target could not be judged (no answer)', report([missed('a.b/1', 'no answer')])],
  ['exit 3: the run was interrupted', report([failed('a.b/1')], { interrupted: true })],
  [
    'exit 3: 1 requirement could not be judged because of a bug in the suite; please report it, with seed 421',
    report([result('a.b/1'), missed('a.b/2', mistakeReason('x is undefined'))]),
  ],
  [
    'exit 3: the key is not accepted',
    report([result('a.b/1'), failed('a.b/2')], {}, { notJudged: 'the key is not accepted' }),
  ],
  [
    'exit 2: --report html=x: cannot be written (ENOSPC)',
    withProblems(report([result('a.b/1')]), ['--report html=x: cannot be written (ENOSPC)']),
  ],
]

interface JunitCase {
  name: string
  failure?: { message: string }
  error?: { message: string }
  skipped?: { message: string }
}

function junit(of: Report) {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    isArray: (name) => /^test(suite|case)$/.test(name),
  })
  const { testsuites } = parser.parse(renderJunit(of)) as {
    testsuites: { failures: string; errors: string; testsuite: { testcase: JunitCase[] }[] }
  }
  const cases = testsuites.testsuite.flatMap(({ testcase }) => testcase)
  return {
    cases,
    red: Number(testsuites.failures) + Number(testsuites.errors),
    errors: Number(testsuites.errors),
  }
}

const ctrf = (of: Report) =>
  (
    JSON.parse(renderCtrf(of)) as {
      results: {
        tests: { name: string; status: string; message?: string }[]
        summary: { failed: number }
      }
    }
  ).results

test.each(endings)('%s', (line, of) => {
  expect(renderTerminal(of, pc.createColors(false)).trimEnd().split('\n').at(-1)).toBe(line)
  expect(
    renderMarkdown(of).replaceAll(/&#(\d+);/g, (_, code: string) =>
      String.fromCodePoint(Number(code)),
    ),
  ).toContain(line)
})

test.each(endings)(
  'JUnit, CTRF and annotations are red exactly if the exit code is not 0: %s',
  (_, of) => {
    const { code } = of.exit
    const { cases, errors, red } = junit(of)
    expect(red > 0).toBe(code !== 0)
    expect(cases.filter(({ failure, error }) => failure ?? error)).toHaveLength(red)
    expect(errors > 0 || code < 2).toBe(true)
    const { summary, tests } = ctrf(of)
    expect(summary.failed > 0).toBe(code !== 0)
    expect(tests.filter(({ status }) => status === 'failed')).toHaveLength(summary.failed)
    expect(tests.some(({ name }) => name === 'run') || code < 2).toBe(true)
    expect(githubAnnotations(of).includes('::error')).toBe(code !== 0)
    for (const { id } of decisive(of)) {
      expect(cases.find(({ name }) => name === id)).toHaveProperty('failure')
      expect(tests.find(({ name }) => name === id)!.status).toBe('failed')
    }
  },
)

test('a report that was written in other words ends as it did', () => {
  const inOtherWords = (of: Report): Report => ({
    ...of,
    exit: { ...of.exit, because: 'pour une autre raison' },
  })
  const lost = inOtherWords(
    report([missed('a.b/1')], {}, { notJudged: 'the target stopped answering' }),
  )
  const silent = inOtherWords(report([missed('a.b/1')]))
  expect([lost, silent].map((of) => outsideCause(of))).toEqual(['pour une autre raison', undefined])
  const rows = [failed('a.b/1'), missed('a.b/2')]
  const decisiveIds = (options: ExitOptions) =>
    decisive(inOtherWords(report(rows, {}, options))).map(({ id }) => id)
  expect(decisiveIds({ requireExercised: true })).toEqual(['a.b/1', 'a.b/2'])
  expect(decisiveIds({})).toEqual(['a.b/1'])
})

test('what does not decide is skipped, and says what was expected and received', () => {
  const of = report([failed('a.b/1'), should('a.b/2'), result('a.b/3')], {
    baseline: baseline({ expected: ['a.b/1'] }),
  })
  const said = 'expected 404 ResourceNotFound, received 404 NotFound'
  const messages = [
    `failed as baseline.json expects: ${said}`,
    `a failed recommendation is not decisive: ${said}`,
  ]
  expect(junit(of).cases.flatMap(({ skipped }) => (skipped ? [skipped.message] : []))).toEqual(
    messages,
  )
  expect(
    ctrf(of).tests.flatMap(({ message, status }) => (status === 'skipped' ? [message] : [])),
  ).toEqual(messages)
})

test('what --require-exercised misses is named on the terminal, in the summary, in JUnit and CTRF', () => {
  const of = report(
    [result('a.b/1'), missed('a.b/2', 'declare resources.graph')],
    {},
    { requireExercised: true },
  )
  const lines = renderTerminal(of, pc.createColors(false)).trimEnd().split('\n')
  expect(lines.slice(-2)).toEqual([
    'not tested, and required: a.b/2',
    'exit 1: 1 required check was not tested (--require-exercised)',
  ])
  expect(renderMarkdown(of)).toContain(
    '### Not tested, and required (--require-exercised)\n\n- `a.b/2`\n',
  )
  const message = 'not-exercised: declare resources.graph (--require-exercised)'
  expect(junit(of).cases[1]!.failure!.message).toBe(message)
  expect(ctrf(of).tests[1]).toMatchObject({ status: 'failed', message })
})

test('many missed requirements are counted, the first are named', () => {
  const rows = Array.from({ length: 60 }, (_, at) => missed(`a.b/${at}`))
  const of = report([result('c.d/1'), ...rows], {}, { requireExercised: true })
  expect(renderTerminal(of, pc.createColors(false))).toContain(
    'a.b/4, and 55 more: --verbose\nexit 1: 60 required checks',
  )
  expect(renderMarkdown(of)).toContain('\n- and 10 more\n')
})

test('deciding anew forgets what was decided before', () => {
  const options: ExitOptions = { requireExercised: true }
  const of = report([result('a.b/1'), missed('a.b/2')], {}, options)
  expect(decided(of).exit.code).toBe(0)
  expect(Object.keys(of)).toEqual([
    'format',
    'suite',
    'target',
    'run',
    'exit',
    'verdict',
    'summary',
    'requirements',
  ])
})
