import { expect, test } from 'vitest'
import { formats, loadFormats, type Render } from '../../reporters/index.ts'
import { joined, sampleExchanges } from './sample-exchanges.ts'
import { fails, mixed, sampleReport } from './sample-report.ts'

const all: [string, Render][] = Object.entries(await loadFormats())

test('every format has its own file', () => {
  expect(new Set(Object.values(formats).map(({ file }) => file)).size).toBe(all.length)
})

test.each(all)(
  '%s gives the same text for the same report, and leaves the report as it was',
  async (_, render) => {
    const report = sampleReport({ end: mixed })
    const before = structuredClone(report)
    const once = await joined(render(report, sampleExchanges(report, 50)))
    expect(await joined(render(report, sampleExchanges(report, 50)))).toBe(once)
    expect(report).toEqual(before)
  },
)

test.each(all)('%s says where the two verdicts differ', async (name, render) => {
  const report = sampleReport({ size: 20, end: fails('404 NotFound', { familyOnly: true }) })
  const text = await joined(render(report, []))
  expect(text).toContain(
    name === 'json' ? '"family": "conformant"' : '20 failures are only family names',
  )
})
