import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { mergeFiles } from '../../cli/merge.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { conform } from '../cli/in-process.ts'
import { failed, missed, report, result, notApplicable } from './results.ts'
import { catalogue, requirementsDigest } from '../../catalogue/catalogue.ts'
import { makeStatement } from '../../certificate/statement.ts'
import { applyGates } from '../../harness/report/exit-code.ts'
import { mergeReports } from '../../harness/report/merge.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { UserError } from '../../harness/user-error.ts'

const at = folder()
const path = (name: string) => join(at, name)
const elsewhere = (id: string) => missed(id, leftOut('--shard'))
const now = new Date('2027-01-01T00:00:00Z')
const should = {
  ...result('a.b/3', { level: 'should', outcome: 'failed' }),
  failures: failed('a.b/3').failures,
}

const parts = [
  [result('a.b/1'), elsewhere('c.d/2'), should],
  [elsewhere('a.b/1'), failed('c.d/2', { familyOnly: true }), elsewhere('a.b/3')],
].map((rows, index) => {
  writeFileSync(path(`${index}.json`), JSON.stringify(report(rows, { shard: `${index + 1}/2` })))
  return path(`${index}.json`)
})
writeFileSync(path('baseline.json'), '{"expected": [{"id": "c.d/2"}]}')

const merge = (...args: string[]) => conform(['merge', ...parts, ...args])

test('the whole is written and decides the exit code', async () => {
  const { code, stdout } = await merge('--report', `json=${path('whole.json')}`)
  expect(code).toBe(1)
  expect(stdout).toContain('non-conformant')
  expect(JSON.parse(readFileSync(path('whole.json'), 'utf8'))).toMatchObject({
    verdict: 'non-conformant',
    run: { shard: null },
  })
})

test('--baseline, --tpe and --strict hold for the whole', async () => {
  expect((await merge('--baseline', path('baseline.json'))).code).toBe(0)
  expect((await merge('--tpe', 'family')).code).toBe(0)
  expect((await merge('--tpe', 'family', '--strict')).code).toBe(1)
  expect(mergeFiles(parts, { tpe: 'family', baseline: path('baseline.json') }, now)).toMatchObject({
    verdict: 'conformant',
    run: { tpe: 'family', baseline: { stale: [{ id: 'c.d/2', why: 'it passed' }] } },
  })
})

test('--require-exercised holds for the whole: a must that no part tested decides', async () => {
  const rows = [
    [result('a.b/1'), missed('a.b/2'), elsewhere('c.d/2')],
    [elsewhere('a.b/1'), elsewhere('a.b/2'), result('c.d/2')],
  ].map((of, index) => {
    const name = path(`missed-${index}.json`)
    writeFileSync(name, JSON.stringify(report(of, { shard: `${index + 1}/2` })))
    return name
  })
  expect((await conform(['merge', ...rows])).code).toBe(0)
  const required = await conform(['merge', ...rows, '--require-exercised'])
  expect(required.code).toBe(1)
  expect(required.stdout).toContain('exit 1: 1 must was not exercised (--require-exercised)')
})

test('with a report on stdout, what is for people goes to stderr', async () => {
  const { stdout, stderr } = await merge('--report', 'badge=-')
  expect(stdout).toMatch(/^<svg/)
  expect(stderr).toContain('non-conformant')
})

test('a report that cannot be written is a mistake of the user, and nothing is merged', async () => {
  for (const [path, problem] of [
    [`${parts[0]}/x.json`, /cannot be written \((ENOTDIR|EEXIST)\)\n$/],
    [parts[0], /would overwrite .*0\.json, one of the parts/],
  ] as const) {
    const ended = await merge('--report', `json=${path}`)
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(problem) })
  }
})

test('the last line says why the exit code is what it is', async () => {
  const last = async (...args: string[]) =>
    (await merge(...args)).stdout.trimEnd().split('\n').at(-1)
  expect(await last()).toBe('exit 1: 1 must failed')
  expect(await last('--baseline', path('baseline.json'))).toBe(
    `exit 0: 1 of 2 failures expected by the baseline; 1 should failed, which does not decide`,
  )
})

const rows = [
  [result('a.b/1'), elsewhere('c.d/2')],
  [elsewhere('a.b/1'), result('c.d/2')],
] as const

const part = (
  index: 0 | 1,
  edit: (of: Report) => void = () => undefined,
  run: Partial<Report['run']> = {},
) => {
  const whole = report(structuredClone([...rows[index]]), { shard: `${index + 1}/2`, ...run })
  edit(whole)
  return { path: `${index + 1}.json`, report: whole }
}

/** Why a certificate of that report would be partial. */
const partialOf = (of: Report): string[] => {
  const { startedAt } = of.run
  const issue = {
    issuedAt: startedAt,
    expiresAt: startedAt,
    publicKey: '',
    suiteDigest: { sha256: '' },
  }
  return makeStatement(of, Buffer.from(''), { ...issue, exchanges: [], foreign: [] }).predicate
    .partial
}

test.each<[string, (of: Report) => void]>([
  [
    'verdicts.exact is conformant',
    (of) => void (of.verdict = of.verdicts.exact = of.verdicts.family = 'conformant'),
  ],
  ['summary.must does not count', (of) => void (of.summary.must.passed = 9)],
  [
    'e.f/3 is in it twice',
    (of) => {
      of.requirements.push(notApplicable('e.f/3'), notApplicable('e.f/3'))
      of.summary.must.notApplicable = 2
    },
  ],
  [
    'verdicts.exact is passing',
    (of) => void of.requirements[0]!.failures.push(...failed('a.b/1').failures),
  ],
])('a part that contradicts itself is refused: %s', (problem, edit) => {
  expect(() => mergeReports([part(0, edit), part(1)])).toThrow(UserError)
  expect(() => mergeReports([part(0, edit), part(1)])).toThrow(
    `1.json: contradicts itself: ${problem}`,
  )
})

test.each<[string, (of: Report) => void]>([
  ['suite.specDigest', (of) => void (of.suite.specDigest = `sha256:${'0'.repeat(64)}`)],
  ['suite.specVersion', (of) => void (of.suite.specVersion = '2.0')],
  ['suite.name', (of) => void (of.suite.name = 'another')],
])('parts that differ in %s are refused', (name, edit) => {
  expect(() => mergeReports([part(0), part(1, edit)])).toThrow(`2.json: ${name} is `)
})

test('an id that only a later part has is missing in the first', () => {
  const more = report([...rows[1], result('e.f/3')], { shard: '2/2' })
  const files = [part(0), { path: '2.json', report: more }]
  expect(() => mergeReports(files)).toThrow(
    '1.json: requirements: e.f/3 is missing (2.json has it)',
  )
})

test('parts of the requirements of this suite hold every one of them', () => {
  const edit = (of: Report) => void (of.suite.requirementsDigest = requirementsDigest())
  expect(() => mergeReports([part(0, edit), part(1, edit)])).toThrow(
    `1.json: requirements: ${catalogue[0]!.id} is missing`,
  )
})

test('a part that was lost makes the whole one that could not be judged', () => {
  const lost = report([...rows[1]], { shard: '2/2' }, { notJudged: 'the target stopped answering' })
  const merged = mergeReports([part(0), { path: '2.json', report: lost }])
  expect(merged.exit).toEqual({ code: 3, because: 'the target stopped answering', outside: true })
  expect(applyGates(merged, { strict: true }, new Date()).exit.code).toBe(3)
  const refused = part(1, (of) => {
    of.verdict = of.verdicts.exact = of.verdicts.family = 'not-judged'
    of.exit = { code: 3, because: 'the key is not accepted' }
  })
  expect(mergeReports([part(0), refused])).toMatchObject({
    verdict: 'not-judged',
    exit: { code: 3 },
  })
})

test('a part that only judged nothing does not spoil the whole', () => {
  const empty = {
    path: '2.json',
    report: report([elsewhere('a.b/1'), missed('c.d/2')], { shard: '2/2' }),
  }
  expect(empty.report.exit.code).toBe(3)
  expect(mergeReports([part(0), empty])).toMatchObject({ verdict: 'passing', exit: { code: 0 } })
})

test('what keeps a part from being signed keeps the whole from it', () => {
  const held = { file: 'b.json', expected: ['x'], stale: [], notExercised: [] }
  const merged = mergeReports([
    part(0, undefined, { notServed: [{ operation: 'vision.analyze', answered: '404' }] }),
    part(1, undefined, {
      baseline: held,
      credentialProbes: 'few',
      notServed: [
        { operation: 'vision.analyze', answered: '404' },
        { operation: 'vision.analyze', answered: '200' },
      ],
    }),
  ])
  expect(merged.run).toMatchObject({
    baseline: { file: 'b.json', expected: [], stale: [], notExercised: [] },
    credentialProbes: 'few',
    notServed: [
      { operation: 'vision.analyze', answered: '404' },
      { operation: 'vision.analyze', answered: '200' },
    ],
  })
  expect(partialOf(merged).join('; ')).toContain('--baseline')
  const whole = mergeReports([part(0), part(1)])
  expect(partialOf(whole)).toEqual([])
})

test('a baseline of the parts is not one of the whole', () => {
  const held = { file: 'b.json', expected: ['c.d/2'], stale: [], notExercised: [] }
  const broken = report([elsewhere('a.b/1'), failed('c.d/2')], { shard: '2/2', baseline: held })
  expect(broken.exit.code).toBe(0)
  expect(mergeReports([part(0), { path: '2.json', report: broken }]).exit).toEqual({
    code: 1,
    because: '1 must failed',
  })
})
