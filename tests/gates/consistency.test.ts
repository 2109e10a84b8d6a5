import { expect, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { inconsistencies } from '../../harness/report/exit-code.ts'
import { failed, missed, report, result } from './results.ts'

const whole = report([result('a.b/1'), result('a.b/2', { level: 'should' }), missed('a.b/3')])

test('a report as it was written agrees with itself, in either mode', () => {
  expect(inconsistencies(whole)).toEqual([])
  expect(inconsistencies(report([failed('a.b/1')]))).toEqual([])
  const family = result('a.b/1', { failures: failed('a.b/1', { familyOnly: true }).failures })
  expect(inconsistencies(report([family], { tpe: 'family' }))).toEqual([])
})

test.each<[string, (report: Report) => void]>([
  ['verdicts.exact is conformant, but', (r) => void (r.verdicts.exact = r.verdict = 'conformant')],
  ['verdict is conformant, but verdicts.exact', (r) => void (r.verdict = 'conformant')],
  ['verdicts.family is non-conformant', (r) => void (r.verdicts.family = 'non-conformant')],
  ['summary.must does not', (r) => void (r.summary.must.passed = 9)],
  ['summary.should does not', (r) => void (r.summary.should.passed = 9)],
  [
    'a.b/1 is passed, but its failures',
    (r) => r.requirements[0]!.failures.push(failed('x').failures[0]!),
  ],
  ['a.b/1 failed without a failure', (r) => void (r.requirements[0]!.outcome = 'failed')],
  ['a.b/1 is in it twice', (r) => r.requirements.push(r.requirements[0]!)],
  ['verdicts.exact', (r) => r.requirements.splice(0)],
])('a changed report is told by: %s', (sentence, change) => {
  const changed = structuredClone(whole)
  change(changed)
  expect(inconsistencies(changed).join('\n')).toContain(sentence)
})
