// Makes docs/pictures/report.png from a run against a reference server that breaks two requirements. Needs Chromium.
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Report } from '../harness/report/index.ts'
import { startReference } from '../library/reference.ts'
import { runConformance } from '../library/run-conformance.ts'
import { renderHtml } from '../reporters/html.ts'

const defects = ['jobs.create/404-unknown-application#tpe', 'translate.run/400-empty-text']
const server = await startReference({ defects })
const target = { ...server.target, name: 'Staging' }
const real = await runConformance(target, { seed: 421 }).report
await server.close()

// Port and times are replaced, so that the picture changes only with the product.
const pictured = JSON.parse(
  JSON.stringify(real)
    .replaceAll(`conform ${server.url}`, 'conform --target staging.json')
    .replaceAll(server.url, 'http://localhost:8080'),
) as Report
const times = { startedAt: '2026-01-15T09:30:00.000Z', durationMs: 2400, concurrency: 8 }
const requirements = pictured.requirements.map((row) => ({ ...row, durationMs: 12 }))
const report = { ...pictured, run: { ...pictured.run, ...times }, requirements }

let page = ''
for await (const part of renderHtml(report, [])) page += part
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
const tab = await browser.newPage({ viewport: { width: 1100, height: 860 }, colorScheme: 'light' })
await tab.setContent(page)
await tab.screenshot({
  path: fileURLToPath(new URL('../docs/pictures/report.png', import.meta.url)),
})
await browser.close()
