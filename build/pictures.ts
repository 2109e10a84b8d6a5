// npm run pictures: makes the pictures of the README anew, from runs against the reference server. Needs Chromium for the page.
// flow.svg is drawn by hand.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import { chromium } from 'playwright-core'
import type { Report } from '../harness/report/model.ts'
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
  const rows = pictured.requirements.map((row) => ({ ...row, durationMs: row.durationMs > 0 ? 12 : 0 }))
  const run = { ...pictured.run, startedAt: '2026-01-15T09:30:00.000Z', durationMs: 2400, concurrency: 8 }
  return { ...pictured, run, requirements: rows }
}

const cell = { width: 8.43, height: 19, left: 18, top: 52 }
const colours: Readonly<Record<string, string>> = { 31: '#ff9d92', 32: '#7fd0a0', 33: '#e6be62', 36: '#8fbcea' }

interface Style {
  readonly bold: boolean
  readonly dim: boolean
  readonly colour: string | undefined
}

const plain: Style = { bold: false, dim: false, colour: undefined }

/** The style after a code of SGR: what picocolors writes, and no more. */
function styled(style: Style, code: string): Style {
  if (code === '0') return plain
  if (code === '1') return { ...style, bold: true }
  if (code === '2') return { ...style, dim: true }
  if (code === '22') return { ...style, bold: false, dim: false }
  if (code === '39') return { ...style, colour: undefined }
  return code in colours ? { ...style, colour: colours[code] } : style
}

/**
 * Draws text of a terminal, with its colours; lines longer than its columns are cut.
 * @param title what was typed
 */
function terminalPicture(title: string, text: string): string {
  const lines = text.replace(/\n+$/, '').split('\n')
  let style = plain
  const rows = lines.map((line, at) => {
    let column = 0
    const spans = line.split(/(\u001b\[\d+m)/).map((part) => {
      const [, code] = /^\u001b\[(\d+)m$/.exec(part) ?? []
      if (code !== undefined) {
        style = styled(style, code)
        return ''
      }
      const start = column
      column += [...part].length
      const shown = cut(part, columns - start)
      const words = shown.trimStart()
      // Blanks at the beginning are lost in a picture.
      const x = (cell.left + (start + shown.length - words.length) * cell.width).toFixed(1)
      return words.trim() === '' ? '' : `<tspan x="${x}"${attributes(style)}>${htmlText(words)}</tspan>`
    })
    return `<text y="${cell.top + at * cell.height}" xml:space="preserve">${spans.join('')}</text>`
  })
  const width = Math.ceil(columns * cell.width) + 2 * cell.left
  const height = cell.top + lines.length * cell.height
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${htmlText(title)}">
<rect width="${width}" height="${height}" rx="9" fill="#16191d"/><path d="M0 9a9 9 0 0 1 9-9h${width - 18}a9 9 0 0 1 9 9v21H0z" fill="#262b31"/>
<g fill="#e7e9ea" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14"><text x="${cell.left}" y="20" fill="#a2a9b0">$ ${htmlText(title)}</text>
${rows.join('\n')}
</g></svg>
`
}

function cut(text: string, room: number): string {
  const all = [...text]
  return all.length <= room ? text : `${all.slice(0, Math.max(room - 1, 0)).join('')}…`
}

function attributes({ bold, colour, dim }: Style): string {
  return `${bold ? ' font-weight="700"' : ''}${colour === undefined ? '' : ` fill="${colour}"`}${dim ? ' opacity=".65"' : ''}`
}

const at = (name: string): string => fileURLToPath(new URL(`../docs/pictures/${name}`, import.meta.url))

const only = ['jobs.create/*', 'translate.run/*']
const text = renderTerminal(await report(only), pc.createColors(true), { width: columns })
const command = `npx conform --target staging.json${only.map((pattern) => ` --only '${pattern}'`).join('')}`
writeFileSync(at('terminal.svg'), terminalPicture(command, text))

let page = ''
for await (const part of renderHtml(await report([]), [])) page += part
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
const tab = await browser.newPage({ viewport: { width: 1100, height: 860 }, colorScheme: 'light' })
await tab.setContent(page)
await tab.screenshot({ path: at('report.png') })
await browser.close()
