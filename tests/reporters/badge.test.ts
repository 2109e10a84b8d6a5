import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { renderBadge } from '../../reporters/badge.ts'
import { fails, mixed, sampleReport } from './sample-report.ts'

const title = (svg: string) => (new XMLParser().parse(svg) as { svg: { title: string } }).svg.title

test('says the verdict and how many of the musts that apply passed', () => {
  const report = sampleReport({ end: (at) => (mixed(at).outcome === 'failed' ? {} : mixed(at)) })
  const { passed, notExercised } = report.summary.must
  expect(title(renderBadge(report))).toBe(`conformance: passing ${passed}/${passed + notExercised}`)
  expect(title(renderBadge(sampleReport()))).toBe('conformance: conformant 269/269')
  expect(title(renderBadge(sampleReport({ size: 20, end: fails() })))).toMatch(/^conformance: non-conformant 0\/\d+$/)
})

test('a target that was not judged has no count and no green', () => {
  const svg = renderBadge(sampleReport({ end: () => ({ outcome: 'not-exercised', reason: 'no answer' }) }))
  expect(title(svg)).toBe('conformance: not-judged')
  expect(svg).not.toMatch(/#4c1|#97ca00/)
})

test('describes where the two verdicts differ', () => {
  const svg = renderBadge(sampleReport({ size: 20, end: fails('404 NotFound', { familyOnly: true }) }))
  expect((new XMLParser().parse(svg) as { svg: { desc: string } }).svg.desc).toMatch(
    /^20 failures are only family names /,
  )
})
