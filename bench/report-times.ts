import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pc from 'picocolors'
import { loggedExchanges } from '../cli/output/exchanges.ts'
import { runConformance } from '../library/run-conformance.ts'
import { startReference } from '../reference/server.ts'
import { formats } from '../reporters/index.ts'
import { renderTerminal } from '../reporters/terminal.ts'
import { file } from './conform.ts'
import { median } from './median.ts'

export interface Rendered {
  readonly format: string
  readonly ms: number
  readonly kibibytes: number
}

async function joined(text: string | AsyncIterable<string>): Promise<string> {
  if (typeof text === 'string') return text
  const pieces: string[] = []
  for await (const piece of text) pieces.push(piece)
  return pieces.join('')
}

/** Judges the reference once and renders each report several times. */
export async function reportTimes(times: number): Promise<Rendered[]> {
  const dir = mkdtempSync(join(tmpdir(), 'conform-bench-'))
  const log = join(dir, 'exchanges.ndjson')
  const reference = await startReference()
  try {
    const run = runConformance(file('fixtures/reference.target.json'), {
      ...{ baseUrl: reference.url, seed: 1, exchangeLog: log },
    })
    const report = await run.report
    const terminal = { render: () => renderTerminal(report, pc.createColors(true)) }
    const rendered: Rendered[] = []
    for (const [format, { render }] of Object.entries({ terminal, ...formats })) {
      const taken: number[] = []
      let text = ''
      for (let time = 0; time < times; time++) {
        const started = performance.now()
        text = await joined(render(report, loggedExchanges(log)))
        taken.push(performance.now() - started)
      }
      rendered.push({ format, ms: median(taken), kibibytes: Buffer.byteLength(text) / 1024 })
    }
    return rendered
  } finally {
    await reference.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
