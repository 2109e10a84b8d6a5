/** Exit code, verdict and baseline: what decides them is a table here; that each front hands it on is tested beside that front. */
import { holdAgainst } from '../../harness/report/baseline.ts'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import {
  type BaselineEntry,
  foreignBaseline,
  heldEntries,
  isExpectedFailure,
  parseBaseline,
  readBaselineOrNone,
  updateBaseline,
} from '../../harness/report/baseline.ts'
import {
  decided,
  decisive,
  type ExitOptions,
  inconsistencies,
  outsideCause,
  withProblems,
  matchesId,
  type HttpResponse,
  responseOf,
} from '../../harness/report/verdict.ts'
import {
  absentReason,
  leftOut,
  mistakeReason,
  unreachableReason,
} from '../../harness/report/reason.ts'
import type { Failure, Report, RequirementResult } from '../../schemas/report.ts'
import { UserError } from '../../harness/user-error.ts'
import { renderBadge } from '../../reporters/badge.ts'
import { renderCtrf } from '../../reporters/ctrf.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { standingOf } from '../../reporters/view/standing.ts'
import { readJunit } from '../reporters/parsers.ts'
import { inHtml, inTerminal } from '../reporters/samples.ts'
import { failed, failure, missed, notApplicable, report, result } from './results.ts'

const rowOf: Record<string, (id: string) => RequirementResult> = {
  passed: result,
  failed,
  missed,
  cut: (id) => missed(id, leftOut('interrupted')),
  'left-out': (id) => missed(id, leftOut('--only')),
  'read-only': (id) => missed(id, leftOut('--read-only')),
  bug: (id) => missed(id, mistakeReason('x is undefined')),
  'n/a': notApplicable,
  excused: (id) => notApplicable(id, unreachableReason('no switch')),
  unserved: () => notApplicable('vision.analyze/2xx-accepted', absentReason('not-served')),
}
const baseline = { file: 'b.json', expected: [], stale: [], notExercised: [] }
const stale = (why: string) => ({ baseline: { ...baseline, stale: [{ id: 'a.b/1', why }] } })
const given: Record<string, Partial<Report['run']> & ExitOptions> = {
  '--strict': { strict: true },
  '--require-exercised': { requireExercised: true },
  '--read-only': { readOnly: true },
  '--depth quick': { depth: 'quick' },
  '--tpe family': { tpe: 'family' },
  '--only envelope/*': { only: ['envelope/*'] },
  '--only a.b/3': { only: ['a.b/3'] },
  '--only a.b/* envelope/*': { only: ['a.b/*', 'envelope/*'] },
  '--skip a.b/*': { skip: ['a.b/*'] },
  interrupted: { interrupted: true },
  'key refused': { keyRefused: true, notJudged: 'the key is not accepted' } as object,
  recorded: { runs: 0 },
  'a disk is full': { problem: '--report html=x: cannot be written (ENOSPC)' } as object,
  '1 is expected': { baseline: { ...baseline, expected: ['a.b/1'] } },
  '1+2 are expected': { baseline: { ...baseline, expected: ['a.b/1', 'a.b/2'] } },
  '1 was expected': stale('it passed'),
  '1 was expected otherwise': stale('it fails otherwise: ...'),
}

/** `passed failed? | --strict`: a.b/1 passed, and a.b/2, a recommendation, failed; `envelope` before one is its operation. */
function reportOf(situation: string): Report {
  const [words = '', options] = situation.split(' | ')
  const rows = words.split(' ').flatMap((word, at) => {
    const [, isOfEnvelope, outcome = '', isShould] = /^(envelope-)?(.*?)(\?)?$/.exec(word)!
    const row = rowOf[outcome]?.(`${isOfEnvelope ? 'envelope' : 'a.b'}/${at + 1}`)
    return row ? [isShould ? { ...row, level: 'should' as const } : row] : []
  })
  const all = (options?.split(', ') ?? []).map((name) => given[name]!)
  const { requireExercised, notJudged, problem, ...run } = Object.assign({}, ...all)
  return withProblems(report(rows, run, { requireExercised, notJudged }), problem ? [problem] : [])
}

const decisions = `
passed n/a
  exit 0: no required check failed
  conformant, good: Conformant: 1 required check passed
passed missed
  exit 0: no required check failed, 1 not tested
  passing, warning: Incomplete: 1 required check passed, 1 not tested
passed missed?
  exit 0: no required check failed
  conformant, good: Conformant: 1 required check passed
passed failed? envelope-failed?
  exit 0: no required check failed; 2 recommendations failed (not decisive)
  conformant, good: Conformant: 1 required check passed; 2 recommendations failed (not decisive)
passed missed left-out left-out left-out?
  exit 0: no required check failed, 1 not tested, 2 left out
  passing, warning: Incomplete: 1 required check passed, 1 not tested
passed cut | interrupted
  exit 3: the run was interrupted; 1 of 2 required checks were not tested
  passing, warning: Incomplete: 1 required check passed, 1 not tested
passed | interrupted
  exit 3: the run was interrupted
  passing, warning: Incomplete: 1 required check passed
failed | interrupted
  exit 3: the run was interrupted
  non-conformant, bad: Non-conformant: 1 required check failed, 0 passed
passed | --read-only
  exit 0: no required check failed
  passing, warning: Incomplete: 1 required check passed
passed excused unserved
  exit 0: no required check failed
  conformant, good: Conformant: 1 required check passed, 1 excused (unreachable), 1 operation not served
passed missed excused
  exit 0: no required check failed, 1 not tested
  passing, warning: Incomplete: 1 required check passed, 1 not tested, 1 excused (unreachable)
passed failed failed? missed
  exit 1: 1 required check failed
  non-conformant, bad: Non-conformant: 1 required check failed, 1 passed, 1 not tested; 1 recommendation failed (not decisive)
passed failed? | --strict
  exit 1: 1 recommendation failed
  non-conformant, bad: Non-conformant: 1 required check passed; 1 recommendation failed (decisive by --strict)
failed failed? | --strict
  exit 1: 1 required check and 1 recommendation failed
  non-conformant, bad: Non-conformant: 1 required check failed, 0 passed; 1 recommendation failed (decisive by --strict)
passed missed missed left-out n/a | --require-exercised
  exit 1: 2 required checks were not tested (--require-exercised)
  passing, bad: Incomplete: 1 required check passed, 2 not tested
failed missed | --require-exercised
  exit 1: 1 required check failed; 1 required check was not tested (--require-exercised)
  non-conformant, bad: Non-conformant: 1 required check failed, 0 passed, 1 not tested
passed missed? | --require-exercised
  exit 0: no required check failed
  conformant, good: Conformant: 1 required check passed
failed failed | 1+2 are expected
  exit 0: 2 failures, all expected by b.json
  non-conformant, warning: Non-conformant, as expected: 2 required checks failed, 0 passed
failed failed failed | 1 is expected
  exit 1: 2 required checks failed that the baseline does not expect
  non-conformant, bad: Non-conformant: 3 required checks failed, 0 passed
failed? passed | --strict, 1 is expected
  exit 0: 1 failure, expected by b.json
  non-conformant, warning: Non-conformant, as expected: 1 required check passed; 1 recommendation failed (decisive by --strict)
failed failed? | 1 is expected
  exit 0: 1 of 2 failures expected by the baseline; 1 recommendation failed (not decisive)
  non-conformant, warning: Non-conformant, as expected: 1 required check failed, 0 passed; 1 recommendation failed (not decisive)
passed | 1 was expected
  exit 1: 1 entry of b.json is stale
  conformant, warning: Conformant, but the run failed: 1 required check passed
failed? passed | 1 was expected otherwise
  exit 1: 1 failure is not as b.json expects
  conformant, warning: Conformant, but the run failed: 1 required check passed; 1 recommendation failed (not decisive)
failed failed | 1 was expected otherwise
  exit 1: 1 required check failed that the baseline does not expect; 1 failure is not as b.json expects
  non-conformant, bad: Non-conformant: 2 required checks failed, 0 passed
passed | --depth quick
  exit 0: no required check failed
  conformant, warning: Conformant (quick): 1 required check passed
passed | --tpe family
  exit 0: no required check failed
  conformant, good: Conformant (family names): 1 required check passed
nothing
  exit 3: the target could not be judged
  not-judged, warning: Not judged: the target could not be judged
missed n/a envelope-failed
  exit 3: the target could not be judged (declare resources.application)
  not-judged, warning: Not judged: the target could not be judged (declare resources.application)
left-out envelope-passed | --only envelope/*
  exit 0: no required check failed, 1 left out
  passing, warning: Incomplete: 1 required check passed
left-out envelope-passed | --skip a.b/*
  exit 0: no required check failed, 1 left out
  passing, warning: Incomplete: 1 required check passed
left-out envelope-passed | --only a.b/* envelope/*
  exit 3: the target could not be judged (left out: --only)
  not-judged, warning: Not judged: the target could not be judged (left out: --only)
left-out left-out read-only | --only a.b/3
  exit 3: the target could not be judged (left out: --read-only)
  not-judged, warning: Not judged: the target could not be judged (left out: --read-only)
left-out left-out excused | --only a.b/3
  exit 3: the target could not be judged (declared unreachable: no switch)
  not-judged, warning: Not judged: the target could not be judged (declared unreachable: no switch)
missed envelope-failed | recorded
  exit 1: 1 required check failed
  non-conformant, bad: Non-conformant: 1 required check failed, 0 passed, 1 not tested
passed failed | key refused
  exit 3: the key is not accepted
  not-judged, warning: Not judged: the key is not accepted
passed bug
  exit 3: 1 requirement could not be judged because of a bug in the suite; please report it, with seed 421 (NODE_DEBUG=conform prints the stack)
  passing, warning: Incomplete: 1 required check passed, 1 not tested
passed | a disk is full
  exit 2: --report html=x: cannot be written (ENOSPC)
  conformant, warning: Conformant, but the run failed: 1 required check passed
`
const blocks = decisions
  .trim()
  .split(/\n(?! )/)
  .map((block) => block.split('\n  ') as [string, string, string])

test.each(blocks)('%s: %s', (situation, exitLine, standing) => {
  const one = reportOf(situation)
  const { code, because } = one.exit
  const words = `${one.verdict}, ${standingOf(one).tone}: ${standingOf(one).sentence}`
  expect([`exit ${code}: ${because}`, words]).toEqual([exitLine, standing])
})

/** Expects no situation in which `look` finds something wrong. */
async function expectNothingWrong(
  look: (one: Report, exitLine: string) => Promise<string> | string,
): Promise<void> {
  for (const [situation, exitLine] of blocks)
    expect([situation, await look(reportOf(situation), exitLine)]).toEqual([situation, ''])
}

test('the terminal and Markdown say the exit line', async () => {
  const unescaped = (text: string) =>
    text.replaceAll(/&#(\d+);/g, (_, sign: string) => String.fromCodePoint(Number(sign)))
  await expectNothingWrong((one, exitLine) => {
    if (!inTerminal(one).endsWith(`\n${exitLine}\n`)) return 'the terminal ends otherwise'
    return unescaped(renderMarkdown(one)).includes(exitLine) ? '' : 'Markdown lacks it'
  })
})

test('Markdown, HTML and the badge have the tone of the verdict', async () => {
  await expectNothingWrong(async (one) => {
    const shown = [
      /^## (\S+) /.exec(renderMarkdown(one))?.[1],
      /<div class="verdict (\w)">/.exec(await inHtml(one))?.[1],
      /#4b0\b|#97ca00/.test(renderBadge(one)) ? 'green' : 'not green',
    ].join(', ')
    const tones = { good: '✅, p, green', warning: '⚠️, m, not green', bad: '❌, f, not green' }
    const wanted = tones[standingOf(one).tone]
    return shown === wanted ? '' : `they show ${shown} instead of ${wanted}`
  })
})

/** What is red in a report of tests: requirements, and errors of the run; and how many failures and errors it counts. */
const redIn: Record<string, (of: Report) => [red: string[], errors: number, counted: string]> = {
  JUnit(of) {
    const { root, cases } = readJunit(renderJunit(of))
    const red = cases.filter((row) => row.failure).map(({ name }) => name)
    const errors = cases.filter((row) => row.error).length
    return [red, errors, `${root.failures}, ${root.errors}`]
  },
  CTRF(of) {
    const { summary, tests } = ctrf(of)
    const all = tests.filter(({ status }) => status === 'failed').map(({ name }) => name)
    const red = all.filter((name) => name !== 'run')
    const errors = all.length - red.length
    return [red, errors, `${summary.failed - errors}, ${errors}`]
  },
}

test.each(Object.entries(redIn))(
  '%s is red exactly if the exit code is not 0: by what is decisive, and by an error if it is 2 or 3',
  async (_, find) => {
    await expectNothingWrong((one) => {
      const [red, errors, counted] = find(one)
      const found = `${red.length}, ${errors}`
      const { code } = one.exit
      if (counted !== found) return `it counts ${counted} instead of ${found}`
      if (red.length + errors > 0 !== code > 0) return `it has ${found} failures and errors`
      if (code > 1 && errors === 0) return 'no error says that of the run'
      const missing = decisive(one).filter(({ id: own }) => !red.includes(own))
      return missing.map(({ id: own }) => `${own} is not red`).join()
    })
  },
)

interface Ctrf {
  tests: { name: string; status: string; message?: string }[]
  summary: { failed: number }
}
const ctrf = (of: Report) => (JSON.parse(renderCtrf(of)) as { results: Ctrf }).results

test('in JUnit and CTRF a failure that is not decisive is skipped, and says what was expected and received', () => {
  const of = reportOf('failed failed? passed | 1 is expected')
  const said = 'expected 404 ResourceNotFound, received 404 NotFound'
  const messages = [
    `failed as b.json expects: ${said}`,
    `a failed recommendation is not decisive: ${said}`,
  ]
  expect(readJunit(renderJunit(of)).cases.flatMap(({ skipped }) => skipped?.message ?? [])).toEqual(
    messages,
  )
  expect(
    ctrf(of).tests.flatMap(({ message, status }) => (status === 'skipped' ? [message] : [])),
  ).toEqual(messages)
})

test('every format names what --require-exercised misses; of many, the first', () => {
  const one = reportOf('passed missed | --require-exercised')
  expect(inTerminal(one)).toContain('\nnot tested, and required: a.b/2\nexit 1: ')
  expect(renderMarkdown(one)).toContain(
    '### Not tested, and required (--require-exercised)\n\n- `a.b/2`\n',
  )
  const message = 'not-exercised: declare resources.application (--require-exercised)'
  expect(readJunit(renderJunit(one)).cases[1]!.failure!.message).toBe(message)
  expect(ctrf(one).tests[1]).toMatchObject({ status: 'failed', message })
  const many = reportOf(`passed${' missed'.repeat(60)} | --require-exercised`)
  expect(inTerminal(many)).toContain(
    'a.b/6, and 55 more: --verbose or --report html\nexit 1: 60 required checks',
  )
  expect(renderMarkdown(many)).toContain('\n- and 10 more\n')
})

test('deciding a report again reads none of its words, and forgets options that are not given', () => {
  const because = 'pour une autre raison'
  const reworded = (of: Report): Report => ({ ...of, exit: { ...of.exit, because } })
  const causes = ['passed failed | key refused', 'missed'].map((one) =>
    outsideCause(reworded(reportOf(one))),
  )
  expect(causes).toEqual([because, undefined])
  const required = reworded(reportOf('failed missed | --require-exercised'))
  expect(decisive(required).map(({ id }) => id)).toEqual(['a.b/1', 'a.b/2'])
  expect(decisive(decided(required)).map(({ id }) => id)).toEqual(['a.b/1'])
})

const whole = reportOf('passed passed? missed')

test.each<[string, (of: Report) => unknown]>([
  ['', () => undefined],
  ['verdict is conformant, but its', (of) => (of.verdict = 'conformant')],
  ['summary.must does not', (of) => (of.summary.must.passed = 9)],
  ['summary.should does not', (of) => (of.summary.should.passed = 9)],
  ['a.b/1 is passed, with 1 failures', (of) => of.requirements[0]!.failures.push(failure())],
  ['a.b/1 is failed, with 0 failures', (of) => (of.requirements[0]!.outcome = 'failed')],
  ['a.b/1 is listed twice', (of) => of.requirements.push(of.requirements[0]!)],
  ['verdict is passing', (of) => of.requirements.splice(0)],
])('a report that was changed contradicts itself: "%s"', (sentence, change) => {
  const changed = structuredClone(whole)
  change(changed)
  const found = inconsistencies(changed).join('\n')
  if (sentence === '') expect(found).toBe('')
  else expect(found).toContain(sentence)
})

test('the summary counts by level and outcome', () => {
  expect(reportOf('passed failed missed n/a failed?').summary).toEqual({
    must: { passed: 1, failed: 1, notExercised: 1, notApplicable: 1 },
    should: { passed: 0, failed: 1, notExercised: 0, notApplicable: 0 },
  })
})

/** The last moment of that day. */
const now = new Date('2027-01-31T23:59:59.999Z')
const id = 'a.b/1'
const of = (...entries: BaselineEntry[]) => ({ file: 'b.json', entries })
const { exchange } = failure()
const withBody = (status: number | null, body: string): Partial<Failure> => ({
  exchange: { ...exchange!, response: status === null ? undefined : { status, headers: {}, body } },
})
const answersOf = (text: string): HttpResponse[] =>
  text.split(' or ').map((one) => {
    const [status, tpe] = one.split(' ')
    return status === 'no' ? { status: null } : { status: Number(status), ...(tpe && { tpe }) }
  })
const failedWith = (text: string, row = id) =>
  failed(
    row,
    ...answersOf(text).map(({ status, tpe }) =>
      withBody(status, tpe ? JSON.stringify({ tpe }) : ''),
    ),
  )

/** `flaky, until 2027-01-31, was 404 A`. */
function entryOf(words: string): BaselineEntry {
  const [, until] = /until ([\d-]+)/.exec(words) ?? []
  const [, was] = /was (.*)/.exec(words) ?? []
  const isFlaky = words.startsWith('flaky')
  return {
    ...{ id, ...(isFlaky && { flaky: true }) },
    ...(until !== undefined && { until }),
    ...(was !== undefined && { was: answersOf(was) }),
  }
}

test.each(
  `
any                         | 404 A          | expected
any                         | 500 B          | expected
any                         | passed         | it passed
any                         | missed         | not exercised
any                         | n/a            | not exercised
any                         | another id     | no requirement has this id
flaky                       | passed         | nothing
flaky                       | 404 A          | expected
flaky, until 2027-01-30     | passed         | expected until 2027-01-30
flaky, was 404 A            | 500 B          | it fails otherwise: 404 A was recorded, 500 B was received
until 2027-01-31            | 404 A          | expected
until 2027-01-30            | 404 A          | expected until 2027-01-30
was 404 A                   | 404 A          | expected
was 404 A                   | 500 B          | it fails otherwise: 404 A was recorded, 500 B was received
was 404 A                   | 404 A or 500 B | it fails otherwise: 404 A was recorded, 500 B was received
was 404 A or 500 B          | 404 A or 500 B | expected
was no answer               | no answer      | expected
was no answer               | 404 A          | it fails otherwise: no answer was recorded, 404 A was received
was 404                     | 404 A          | it fails otherwise: 404 was recorded, 404 A was received
`
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim())),
)('the baseline expects %s; it is %s: %s', (words, outcome, comes) => {
  const isFailure = /^\d|^no /.test(outcome)
  const row = isFailure ? failedWith(outcome) : (rowOf[outcome]?.(id) ?? result('a.b/2'))
  const baseline = of(entryOf(words))
  const held = holdAgainst(baseline, [row], now)
  const found = [
    ...held.expected.map(() => 'expected'),
    ...held.notExercised.map(() => 'not exercised'),
    ...held.stale.map(({ why }) => why),
  ]
  expect(found).toEqual(comes === 'nothing' ? [] : [comes])
  // By this `--bail` decides whether to stop.
  if (isFailure)
    expect(isExpectedFailure(heldEntries(baseline, now), row)).toBe(comes === 'expected')
})

test('a baseline is a list of expected failures, or a report', () => {
  const entry = { id, reason: 'known', until: '2027-01-31', flaky: true }
  const listed = { $schema: 'x', expected: [{ ...entry, was: { status: 404, tpe: 'A' } }] }
  const read = (value: unknown) => parseBaseline(JSON.stringify(value), 'b.json').entries
  expect(read(listed)).toEqual([{ ...entry, was: answersOf('404 A') }])
  expect(read(report([failedWith('404 A'), result('a.b/3')]))).toEqual([entryOf('was 404 A')])
  expect(readBaselineOrNone('/nowhere/b.json').entries).toEqual([])
})

test.each([
  ['{', 'is not JSON'],
  ['{"format": "other/1"}', 'is not a report'],
  ['{}', 'is not a baseline, nor a report: expected is missing'],
  ['{"expects": [], "expected": []}', 'expects is not a known member'],
  ['{"expected": [{"reason": "x"}]}', 'expected[0].id is missing'],
  [
    '{"expected": [{"id": "a", "until": "2027-02-30"}]}',
    'expected[0].until must be a day written YYYY-MM-DD',
  ],
  ['{"expected": [{"id": "a", "was": {"tpe": "X"}}]}', 'expected[0].was.status is missing'],
  ['{"expected": [{"id": "a"}, {"id": "a"}]}', 'expected: a is listed twice'],
])('a wrong baseline is one sentence that names the place: %s', (text, message) => {
  expect(() => parseBaseline(text, 'b.json')).toThrow(UserError)
  expect(() => parseBaseline(text, 'b.json')).toThrow(message)
})

test('--update-baseline keeps what still fails or is flaky, adds what newly fails, drops what passed, and says so', () => {
  const was = answersOf('404 A')
  const old = of(
    { id, reason: 'ticket 7', until: '2027-01-30' },
    { id: 'a.b/2', reason: 'fixed by now' },
    { id: 'a.b/3', reason: 'not seen today' },
    { id: 'a.b/5', flaky: true },
    { id: 'a.b/6', was },
    { id: 'a.b/9', reason: 'gone' },
  )
  const rows = [
    ...[failedWith('404 A'), result('a.b/2'), missed('a.b/3'), failedWith('404 A', 'a.b/4')],
    ...[result('a.b/5'), failedWith('404 A or 500 B', 'a.b/6')],
    { ...failedWith('404 A', 'a.b/7'), level: 'should' as const },
  ]
  const { baseline: updated, text, difference } = updateBaseline(old, report(rows), now)
  expect(updated.entries).toEqual([
    { id, reason: 'ticket 7', until: '2027-01-30', was },
    { id: 'a.b/3', reason: 'not seen today' },
    { id: 'a.b/4', was },
    { id: 'a.b/5', flaky: true },
    { id: 'a.b/6', was: answersOf('404 A or 500 B') },
  ])
  expect(parseBaseline(text, 'b.json')).toEqual(updated)
  expect(difference).toEqual([
    '~ a.b/1: fails with 404 A, which was not recorded',
    '! a.b/1: expected until 2027-01-30; fix it, or move the date by hand',
    '+ a.b/4: expected 404 ResourceNotFound, received 404 NotFound',
    '~ a.b/6: fails with 404 A or 500 B, no longer with 404 A',
    '- a.b/2: passed',
    '- a.b/9: unknown',
  ])
  const fresh = { ...updated, entries: updated.entries.slice(1) }
  const again = report(rows.slice(1), { baseline: holdAgainst(fresh, rows.slice(1), now) })
  expect(again.exit.code).toBe(0)
  expect(updateBaseline(fresh, again, now).difference).toEqual([])
  const strict = updateBaseline(of(), report(rows, { strict: true }), now).baseline.entries
  expect(strict.map((entry) => entry.id)).toContain('a.b/7')
})

test('every report says why a failure is expected', async () => {
  const reason = 'the gateway is old'
  const rows = [failed(id), result('c.d/1')]
  const expected = report(rows, { baseline: holdAgainst(of({ id, reason }), rows, now) })
  const html = await inHtml(expected)
  expect(html).toContain(`</a>: ${reason}`)
  expect(renderMarkdown(expected)).toContain(reason)
  expect(renderJunit(expected)).toContain(`failed as b.json expects (${reason})`)
  expect(inTerminal(expected)).toContain(`failed as expected  ${id}: ${reason}`)
})

test.each([
  ['{"tpe":"A","errors":[{"descr', 'A'],
  ['{"errors":[{"tpe":"A"', undefined],
  ['null', undefined],
  ['{"tpe":7}', undefined],
])('a baseline records of the body %s the tpe %s', (body, tpe) => {
  expect(responseOf(failure(withBody(400, body))).tpe).toBe(tpe)
})

const { target } = whole
const local = { ...target, baseUrl: 'http://127.0.0.1:4000' }
test.each([
  ['the same target', {}, target, 0],
  ['the same target, declared otherwise', { digest: 'x' }, target, 0],
  ['another target', { name: 'Other', baseUrl: 'https://other.example' }, target, 1],
  ['the same on another port of this machine', { baseUrl: 'http://127.0.0.1:1' }, local, 0],
  ['another on this machine', { baseUrl: 'http://127.0.0.1:1', digest: 'x' }, local, 1],
])('a report of %s as baseline gives that many warnings', (_, change, judged, warnings) => {
  expect(foreignBaseline({ ...of(), of: { ...target, ...change } }, judged)).toHaveLength(warnings)
})

test('in a pattern * matches any characters, and everything else itself', () => {
  const text = (unit: string) => fc.string({ unit: fc.constantFrom(...unit), maxLength: 12 })
  fc.assert(
    fc.property(text('ab.'), text('ab.**'), (one, pattern) => {
      const same = new RegExp(`^${pattern.replaceAll('.', '[.]').replace(/\*+/g, '.*')}$`)
      expect(matchesId(one, pattern)).toBe(same.test(one))
    }),
    { seed: 3, numRuns: 500 },
  )
})

test('a pattern of many stars is matched in linear time, and a longer one matches nothing', () => {
  const looks = vi.spyOn(String.prototype, 'indexOf')
  const isMatch = matchesId('a'.repeat(250), `${'*a'.repeat(126)}*b*`)
  const times = looks.mock.calls.length
  looks.mockRestore()
  expect([isMatch, times]).toEqual([false, 127])
  expect(matchesId('a'.repeat(300), '*'.repeat(3000))).toBe(false)
})
