import { writeFileSync } from 'node:fs'
import { Command } from 'commander'
import pc from 'picocolors'
import { compareReports } from '../harness/report/compare.ts'
import { readReport } from '../harness/report/report-file.ts'
import { UserError } from '../harness/user-error.ts'
import { renderMatrix } from './compare/render-matrix.ts'
import { renderTable } from './compare/render-table.ts'

export function compareCommand(): Command {
  return new Command('compare')
    .description('show reports side by side: several targets, or one target over time and what changed')
    .argument('<report.json...>', 'reports of conform; those of one base URL are put in order of time')
    .option('--html <file>', 'also write the whole matrix as an HTML page')
    .action(async (files: string[], options: { html?: string }) => {
      const comparison = compareReports(files.map(readReport))
      process.stdout.write(renderTable(comparison, pc))
      if (options.html !== undefined) write(options.html, await renderMatrix(comparison))
    })
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new UserError(`--html ${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}
