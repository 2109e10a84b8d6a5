import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { absentReason } from '../../harness/report/reason.ts'
import { renderBadge } from '../../reporters/badge.ts'
import { fails, mixed, sampleReport } from './sample-report.ts'

const title = (svg: string) => (new XMLParser().parse(svg) as { svg: { title: string } }).svg.title

test('says the verdict and how many of the applicable required checks passed', () => {
  const report = sampleReport({ end: (at) => (mixed(at).outcome === 'failed' ? {} : mixed(at)) })
  const { passed, notExercised } = report.summary.must
  expect(title(renderBadge(report))).toBe(
    `conformance: incomplete ${passed}/${passed + notExercised}`,
  )
  const { must } = sampleReport().summary
  expect(title(renderBadge(sampleReport()))).toBe(
    `conformance: conformant ${must.passed}/${must.passed}`,
  )
  expect(title(renderBadge(sampleReport({ size: 20, end: fails() })))).toMatch(
    /^conformance: non-conformant 0\/\d+$/,
  )
})

test('a target that was not judged has no count and no green', () => {
  const svg = renderBadge(
    sampleReport({ end: () => ({ outcome: 'not-exercised', reason: 'no answer' }) }),
  )
  expect(title(svg)).toBe('conformance: not-judged')
  expect(svg).not.toMatch(/#4b0\b|#97ca00/)
})

test('never says a verdict without its mode, and how many operations were judged if some are not served', () => {
  expect(title(renderBadge(sampleReport({ run: { tpe: 'family' } })))).toMatch(
    /^conformance: conformant \(family names\) /,
  )
  const absent = sampleReport({
    end: () => ({}),
    run: { notServed: [{ operation: 'vision.analyze', answered: '404' }] },
  })
  const row = absent.requirements.filter(({ operation }) => operation === 'vision.analyze')
  for (const one of row) Object.assign(one, { outcome: 'not-applicable', reason: 'not served' })
  const { passed } = sampleReport().summary.must
  expect(title(renderBadge(absent))).toBe(
    `conformance: conformant ${passed}/${passed}, ${operations.length - 1} of ${operations.length} operations`,
  )
  for (const one of row) Object.assign(one, absentReason('not-served'))
  expect(title(renderBadge(absent))).toContain(`/${passed}, 1 operation not served, `)
  absent.run.notServed = []
  expect(title(renderBadge(absent))).toMatch(
    new RegExp(`, ${operations.length - 1} of ${operations.length} operations$`),
  )
})
