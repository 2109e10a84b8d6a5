import pc from 'picocolors'
import type { Report } from '../../harness/report/model.ts'
import { startReference } from '../../library/reference.ts'
import { runConformance } from '../../library/run-conformance.ts'
import { htmlText } from '../../reporters/escape/html.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderTerminal } from '../../reporters/terminal.ts'

const url = 'http://localhost:8080'
const columns = 100
const defects = ['jobs.create/404-unknown-application#tpe', 'translate.run/400-empty-text']

/** A run of a server that breaks two requirements; what differs from run to run (port, times) is written in one way. */
async function report(only: readonly string[]): Promise<Report> {
  const server = await startReference({ defects })
  const target = { ...server.target, name: 'Staging' }
  const real = await runConformance(target, { only, seed: 421, runs: 5 }).report
  await server.close()
  const told = JSON.parse(JSON.stringify(real).replaceAll(server.url, url)) as Report
  const rows = told.requirements.map((row) => ({ ...row, durationMs: row.durationMs > 0 ? 12 : 0 }))
  const run = { ...told.run, startedAt: '2026-01-15T09:30:00.000Z', durationMs: 2400, concurrency: 8 }
  return { ...told, run, requirements: rows }
}

/** The pictures that are text, by name, and the page of which another is taken. */
export async function pictures(): Promise<{ readonly svg: Readonly<Record<string, string>>; readonly page: string }> {
  const only = ['jobs.create/*', 'translate.run/*']
  const text = renderTerminal(await report(only), pc.createColors(true), { width: columns })
  const chosen = only.map((pattern) => ` --only '${pattern}'`).join('')
  let page = ''
  for await (const part of renderHtml(await report([]), [])) page += part
  return {
    svg: {
      'terminal.svg': terminalPicture(`npx conform --target staging.json${chosen}`, text, columns),
      'flow.svg': flowPicture(),
    },
    page,
  }
}

/** Text of a terminal, with its colours, as a picture. */

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
 * @param title what was typed
 * @param columns of the terminal; longer lines are cut
 */
function terminalPicture(title: string, text: string, columns: number): string {
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

const steps = [
  ['Target file', 'what your server holds,', 'and requests that it grants'],
  ['Run', 'one change in a granted', 'request provokes an error'],
  ['Report', 'each requirement, with', 'evidence; an exit code'],
  ['Certificate', 'signed: which server, by', 'what, with which result'],
] as const
const box = { width: 206, height: 92, gap: 46 }

/** From the target file to the certificate, and the command between each two. */
function flowPicture(): string {
  const commands = ['conform', '--report', 'sign']
  const width = steps.length * box.width + (steps.length - 1) * box.gap + 20
  const boxes = steps.map(([name, first, second], at) => {
    const x = 10 + at * (box.width + box.gap)
    const middle = x + box.width / 2
    const arrow =
      at === 0
        ? ''
        : `<path d="M${x - box.gap + 4} 76h${box.gap - 10}m-7-5 7 5-7 5" fill="none" stroke="#6b7680" stroke-width="2"/><text x="${x - box.gap / 2}" y="20" fill="#6b7680" font-family="ui-monospace,Consolas,monospace" font-size="12">${commands[at - 1]}</text>`
    return `${arrow}<rect x="${x}" y="30" width="${box.width}" height="${box.height}" rx="9" fill="#1d5286"/><g fill="#fff"><text x="${middle}" y="60" font-size="17" font-weight="650">${name}</text><text x="${middle}" y="84">${first}</text><text x="${middle}" y="104">${second}</text></g>`
  })
  const about = steps.map(([name]) => name).join(', ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 134" width="${width}" height="134" role="img" aria-label="${about}"><g text-anchor="middle" font-family="system-ui,-apple-system,'Segoe UI',sans-serif" font-size="14">
${boxes.join('\n')}
</g></svg>
`
}
