import type { Report } from '../spec/report.ts'
import { renderBadge } from './badge.ts'
import { renderCtrf } from './ctrf.ts'
import type { Exchanges } from './exchanges.ts'
import { renderHar } from './har.ts'
import { renderHtml } from './html.ts'
import { renderJson } from './json.ts'
import { renderJunit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'

/** A form of the report that `--report` can ask for. */
export interface Format {
  /** The file that is written where no path is given. */
  readonly file: string
  /** Pure: the text of the file, in pieces where the format holds exchanges. Formats without exchanges read none. */
  readonly render: (report: Report, exchanges: Exchanges) => string | AsyncIterable<string>
}

export const formats = {
  json: { file: 'conform-report.json', render: (report) => renderJson(report) },
  html: { file: 'conform-report.html', render: renderHtml },
  junit: { file: 'conform-report.xml', render: (report) => renderJunit(report) },
  ctrf: { file: 'conform-report.ctrf.json', render: (report) => renderCtrf(report) },
  markdown: { file: 'conform-report.md', render: (report) => renderMarkdown(report) },
  har: { file: 'conform-report.har', render: renderHar },
  badge: { file: 'conform-report.svg', render: (report) => renderBadge(report) },
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof formats
