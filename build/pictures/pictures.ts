import pc from 'picocolors'
import type { Report } from '../../harness/report/model.ts'
import { startReference } from '../../library/reference.ts'
import { runConformance } from '../../library/run-conformance.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { flowPicture, terminalPicture } from './svg.ts'

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
