// npm run pictures: makes the pictures of the pages anew, from runs against the reference server: the end of a run in a
// terminal, the HTML report, and `watch`. Needs Chromium, and `script` of util-linux. flow.svg is drawn by hand.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import pc from 'picocolors'
import { type Browser, chromium } from 'playwright-core'
import type { Report } from '../harness/report/index.ts'
import { startReference } from '../library/reference.ts'
import { runConformance } from '../library/run-conformance.ts'
import { htmlText } from '../reporters/escape.ts'
import { renderHtml } from '../reporters/html.ts'
import { renderTerminal } from '../reporters/terminal.ts'

const url = 'http://localhost:8080'
const conform = fileURLToPath(new URL('../cli/bin/conform.js', import.meta.url))
const columns = 100
const defects = ['jobs.create/404-unknown-application#tpe', 'translate.run/400-empty-text']

/** A run of a server that breaks two requirements; what differs from run to run (port, times) is written in one way. */
async function report(only: readonly string[]): Promise<Report> {
  const server = await startReference({ defects })
  const target = { ...server.target, name: 'Staging' }
  const real = await runConformance(target, { only, seed: 421 }).report
  await server.close()
  const pictured = JSON.parse(
    JSON.stringify(real)
      .replaceAll(`conform ${server.url}`, 'conform --target staging.json')
      .replaceAll(server.url, url),
  ) as Report
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
  const lines = stripVTControlCharacters(text).trimEnd().split('\n')
  const rows = lines.map((line) => Math.max(Math.ceil(line.length / columns), 1))
  const [width, height] = [880, 19 * rows.reduce((sum, one) => sum + one, 0) + 72]
  const look =
    'margin: 0; padding: 16px; border-radius: 9px; background: #16191d; color: #e7e9ea; overflow: hidden; white-space: pre-wrap; word-break: break-all'
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

const dir = mkdtempSync(join(tmpdir(), 'conform-pictures-'))
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  await picturesOfPages(browser)
  writeFileSync(
    at('watch.svg'),
    terminalPicture(
      `npx conform watch --target staging.json --only 'translate.run/*'`,
      await watched(),
    ),
  )
} finally {
  await browser.close()
  rmSync(dir, { recursive: true, force: true })
}

async function picturesOfPages(of: Browser): Promise<void> {
  const look = { viewport: { width: 1100, height: 860 }, colorScheme: 'light' } as const
  let page = ''
  for await (const part of renderHtml(await report([]), [])) page += part
  const tab = await of.newPage(look)
  await tab.setContent(page)
  await tab.screenshot({ path: at('report.png') })
}

/** What `watch` shows after a server that was wrong comes back right. */
async function watched(): Promise<string> {
  const wrong = await startReference({ defects })
  const line = [
    process.execPath,
    conform,
    'watch',
    ...argumentsFor(wrong),
    '--only',
    'translate.run/*',
  ]
  const { child, shows } = started('script', [
    '-qefc',
    `stty cols ${columns}; ${line.map((word) => `'${word}'`).join(' ')}`,
    '/dev/null',
  ])
  await shows(/quit\u001b/)
  child.stdin.write('f')
  await shows(/still does[\s\S]*quit\u001b/)
  await wrong.close()
  await shows(/takes no requests[\s\S]*quit\u001b/)
  const right = await startReference({ port: Number(new URL(wrong.url).port) })
  const [shown] = await shows(/[^\n]*the target answers again[\s\S]*quit\u001b\[22m/)
  child.kill('SIGKILL')
  await right.close()
  return withoutMoves(shown).replaceAll(wrong.url, url)
}

/** A program, and a wait for what it shows next. */
function started(file: string, args: readonly string[]) {
  const child = spawn(file, args, {
    cwd: dir,
    env: { ...process.env, FORCE_COLOR: '1', TERM: 'xterm', CONFORM_API_KEY: '' },
  })
  let shown = ''
  let look: () => void = () => undefined
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    shown += piece
    look()
  })
  const shows = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve) => {
      look = () => {
        const found = pattern.exec(shown)
        if (!found) return
        shown = shown.slice(found.index + found[0].length)
        look = () => undefined
        resolve(found)
      }
      look()
    })
  return { child, shows }
}

function argumentsFor({ target }: Awaited<ReturnType<typeof startReference>>): string[] {
  writeFileSync(join(dir, 'staging.json'), JSON.stringify({ ...target, name: 'Staging' }))
  return ['--target', 'staging.json', '--depth', 'quick', '--seed', '421']
}

/** Text without what moves the cursor; of lines that were written over, the last. */
function withoutMoves(text: string): string {
  return text
    .replaceAll(/\u001b\[\?\d+[hl]/g, '')
    .replaceAll(/\r\n/g, '\n')
    .replaceAll(/[^\n]*\u001b\[\d*[A-HJK][^\n]*\n?/g, '')
}
