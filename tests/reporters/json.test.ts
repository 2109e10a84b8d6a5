import { expect, test } from 'vitest'
import { renderJson } from '../../reporters/index.ts'
import { hostile, unsafe } from './hostile.ts'
import { mixed, reportOfText, sampleReport } from './sample-report.ts'

test('reads back as the same report', () => {
  const report = sampleReport({ end: mixed })
  expect(JSON.parse(renderJson(report))).toEqual(report)
})

test('hostile text reads back as it was and does nothing on the way', () => {
  const report = reportOfText(hostile, 20)
  const text = renderJson(report)
  expect(JSON.parse(text)).toEqual(report)
  expect(text).not.toMatch(unsafe)
})
