import pc from 'picocolors'
import type { RecordedExchange, Report } from '../../harness/report/report-schema.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { joined } from './sample-exchanges.ts'

export const plain = pc.createColors(false)

/** The report for a terminal, without colours. */
export const inTerminal = (report: Report, options?: Parameters<typeof renderTerminal>[2]) =>
  renderTerminal(report, plain, options)

export const inHtml = (report: Report, exchanges: Iterable<RecordedExchange> = []) =>
  joined(renderHtml(report, exchanges))
