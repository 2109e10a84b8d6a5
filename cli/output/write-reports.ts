import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Report } from '../../harness/report/model.ts'
import type { Exchanges } from '../../reporters/exchanges.ts'
import type { Format, FormatName } from '../../reporters/index.ts'
import type { ReportRequest } from './report-request.ts'

let loaded: Promise<Readonly<Record<FormatName, Format>>> | undefined

/**
 * Loads what writes reports: after an interrupt while the run is being ended, so that writing waits for nothing. Once, for
 * a module that is imported again while it is being loaded may be had unfinished.
 */
export function loadFormats(): Promise<Readonly<Record<FormatName, Format>>> {
  loaded ??= import('../../reporters/index.ts').then(({ formats }) => formats)
  return loaded
}

/**
 * Writes each report that was asked for. One that cannot be written keeps none of the others from being written.
 * @param exchanges called for each report, since each reads them from the beginning
 * @returns one sentence for each that could not be written
 */
export async function writeReports(
  requests: readonly ReportRequest[],
  report: Report,
  exchanges: () => Exchanges,
  stdout: NodeJS.WritableStream = process.stdout,
): Promise<string[]> {
  if (requests.length === 0) return []
  const formats = await loadFormats()
  const written = requests.map(async ({ format, path }) => {
    const { render } = formats[format]
    const text = render(report, exchanges())
    const pieces = Readable.from(typeof text === 'string' ? [text] : text)
    try {
      if (path === '-') await pipeline(pieces, stdout, { end: false })
      else await pipeline(pieces, createWriteStream(path))
      return null
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      return `--report ${format}=${path}: cannot be written (${code})`
    }
  })
  return (await Promise.all(written)).filter((problem) => problem !== null)
}
