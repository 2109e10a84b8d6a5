// Makes docs/pictures/terminal.svg and report.png from a run against the reference server. Needs Chromium.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import pc from 'picocolors'
import { chromium } from 'playwright-core'
import type { Report } from '../harness/report/index.ts'
import { startReference } from '../library/reference.ts'
import { runConformance } from '../library/run-conformance.ts'
import { htmlText } from '../reporters/escape.ts'
import { renderHtml } from '../reporters/html.ts'
import { renderTerminal } from '../reporters/terminal.ts'

const columns = 100
const defects = ['jobs.create/404-unknown-application#tpe', 'translate.run/400-empty-text']

/**
 * A run against a server that breaks two requirements; port and times are replaced, so that pictures change only with
 * the product.
 */
async function report(only: readonly string[]): Promise<Report> {
  const server = await startReference({ defects })
  const target = { ...server.target, name: 'Staging' }
  const real = await runConformance(target, { only, seed: 421 }).report
  await server.close()
  const pictured = JSON.parse(
    JSON.stringify(real)
      .replaceAll(`conform ${server.url}`, 'conform --target staging.json')
      .replaceAll(server.url, 'http://localhost:8080'),
  ) as Report
  const times = { startedAt: '2026-01-15T09:30:00.000Z', durationMs: 2400, concurrency: 8 }
  const requirements = pictured.requirements.map((row) => ({ ...row, durationMs: 12 }))
  return { ...pictured, run: { ...pictured.run, ...times }, requirements }
}

const styles: Readonly<Record<string, string>> = {
  1: 'font-weight: 700',
  2: 'opacity: .65',
  31: 'color: #ff9d92',
  32: 'color: #7fd0a0',
  33: 'color: #e6be62',
  36: 'color: #8fbcea',
}

function terminalPicture(command: string, output: string): string {
  const [first = '', ...rest] = output.trimEnd().split('\u001b[')
  const spans = rest.map((part) => {
    const [, code = '', text = ''] = /^(\d+)m([\s\S]*)$/.exec(part)!
    if (text === '' || !(code in styles)) return htmlText(text)
    return `<span style="${styles[code]}">${htmlText(text)}</span>`
  })
  const lines = stripVTControlCharacters(output).trimEnd().split('\n')
  const rows = lines.reduce((sum, line) => sum + Math.max(Math.ceil(line.length / columns), 1), 0)
  const [width, height] = [880, 19 * rows + 72]
  const look =
    'margin: 0; padding: 16px; border-radius: 9px; background: #16191d; color: #e7e9ea; overflow: hidden; white-space: pre-wrap; word-break: break-all'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${htmlText(command)}">
<foreignObject width="100%" height="100%"><pre xmlns="http://www.w3.org/1999/xhtml" style="${look}; font: 14px/19px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"><span style="${styles[2]}">$ ${htmlText(command)}</span>

${htmlText(first)}${spans.join('')}</pre></foreignObject></svg>
`
}

const at = (name: string): string =>
  fileURLToPath(new URL(`../docs/pictures/${name}`, import.meta.url))

const only = ['jobs.create/*', 'translate.run/*']
const output = renderTerminal(await report(only), pc.createColors(true), { width: columns })
const command = `npx conform --target staging.json${only.map((pattern) => ` --only '${pattern}'`).join('')}`
writeFileSync(at('terminal.svg'), terminalPicture(command, output))

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
