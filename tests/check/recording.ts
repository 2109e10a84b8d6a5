import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkFile } from '../../cli/check.ts'
import { loggedExchanges } from '../../library/output/write-reports.ts'
import { renderHar } from '../../reporters/har.ts'
import type { ReferenceOptions } from '../../reference/server.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { judgeReference, type JudgeSettings } from '../matrix/judge-reference.ts'

const dir = mkdtempSync(join(tmpdir(), 'conform-check-'))
let files = 0

/** A file of its own in a folder of this test run. */
export function inFile(text: string, name = `${files++}.har`): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}

/** Runs the suite against the reference and gives its report and the HAR that `--report har` writes. */
export async function recordRun(
  reference: ReferenceOptions = {},
  settings: JudgeSettings = {},
): Promise<{ report: Report; har: string }> {
  const exchangeLog = inFile('', `${files++}.ndjson`)
  const judged = await judgeReference(reference, {
    ...settings,
    options: { ...settings.options, exchangeLog },
  })
  const { report } = judged
  const pieces: string[] = []
  for await (const piece of renderHar(report, loggedExchanges(exchangeLog))) pieces.push(piece)
  return { report, har: pieces.join('') }
}

const now = new Date('2027-01-01T00:00:00Z')

/** The report of a HAR, as `check` makes it. */
export async function check(
  har: unknown,
  options: Parameters<typeof checkFile>[1] = {},
): Promise<Report> {
  const text = typeof har === 'string' ? har : JSON.stringify(har)
  return (await checkFile(inFile(text), options, now)).report
}

export function failedIds({ requirements }: Report): string[] {
  return requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)
}
