// npm run pictures: makes the pictures of the README anew, from runs against the reference server. Needs Chromium for the page.
// flow.svg is drawn by hand.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import { chromium } from 'playwright-core'
import type { Report } from '../harness/report/index.ts'
import { startReference } from '../library/reference.ts'
import { runConformance } from '../library/run-conformance.ts'
import { htmlText } from '../reporters/escape/html.ts'
import { renderHtml } from '../reporters/html.ts'
import { renderTerminal } from '../reporters/terminal.ts'

const url = 'http://localhost:8080'
const columns = 100
const defects = ['jobs.create/404-unknown-application#tpe', 'translate.run/400-empty-text']

/** A run of a server that breaks two requirements; what differs from run to run (port, times) is written in one way. */
async function report(only: readonly string[]): Promise<Report> {
  const server = await startReference({ defects })
  const target = { ...server.target, name: 'Staging' }
  const real = await runConformance(target, { only, seed: 421, runs: 5 }).report
  await server.close()
  const pictured = JSON.parse(JSON.stringify(real).replaceAll(server.url, url)) as Report
  const rows = pictured.requirements.map((row) => ({
    ...row,
    durationMs: row.durationMs > 0 ? 12 : 0,
  }))
  const run = {
    ...pictured.run,
    startedAt: '2026-01-15T09:30:00.000Z',
    durationMs: 2400,
    concurrency: 8,
  }
  return { ...pictured, run, requirements: rows }
}

/** How the codes of SGR look that picocolors writes, and which of them a code ends. */
const styles: Readonly<Record<string, string>> = {
  1: 'font-weight: 700',
  2: 'opacity: .65',
  31: 'color: #ff9d92',
  32: 'color: #7fd0a0',
  33: 'color: #e6be62',
  36: 'color: #8fbcea',
}
const ends: Readonly<Record<string, readonly string[]>> = {
  22: ['1', '2'],
  39: ['31', '32', '33', '36'],
}

/** Draws text of a terminal, with its colours, as a picture that is text too. */
function terminalPicture(command: string, text: string): string {
  let on: readonly string[] = []
  const parts = text.trimEnd().split(/\u001b\[(\d+)m/)
  const spans = parts.map((part, at) => {
    if (at % 2 === 0)
      return `<span style="${on.map((code) => styles[code]).join('; ')}">${htmlText(part)}</span>`
    on = [
      ...on.filter((code) => ends[part]?.includes(code) !== true),
      ...(part in styles ? [part] : []),
    ]
    return ''
  })
  const [width, height] = [880, 19 * text.split('\n').length + 52]
  const look =
    'margin: 0; padding: 16px; border-radius: 9px; background: #16191d; color: #e7e9ea; overflow: hidden'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${htmlText(command)}">
<foreignObject width="100%" height="100%"><pre xmlns="http://www.w3.org/1999/xhtml" style="${look}; font: 14px/19px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"><span style="${styles[2]}">$ ${htmlText(command)}</span>

${spans.join('')}</pre></foreignObject></svg>
`
}

const at = (name: string): string =>
  fileURLToPath(new URL(`../docs/pictures/${name}`, import.meta.url))

const only = ['jobs.create/*', 'translate.run/*']
const text = renderTerminal(await report(only), pc.createColors(true), { width: columns })
const command = `npx conform --target staging.json${only.map((pattern) => ` --only '${pattern}'`).join('')}`
writeFileSync(at('terminal.svg'), terminalPicture(command, text))

let page = ''
for await (const part of renderHtml(await report([]), [])) page += part
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
const tab = await browser.newPage({ viewport: { width: 1100, height: 860 }, colorScheme: 'light' })
await tab.setContent(page)
await tab.screenshot({ path: at('report.png') })
await browser.close()
