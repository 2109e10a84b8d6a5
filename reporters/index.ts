import type { Report } from '../harness/report/index.ts'
import { json } from './text.ts'
import type { Exchanges } from './view/evidence.ts'

/** A pure function to the text of a report, in pieces if it contains exchanges. */
export type Render = (report: Report, exchanges: Exchanges) => string | AsyncIterable<string>

interface Format {
  readonly file: string
  /** Shows every exchange. The other formats show only the exchanges of failures, which the report contains. */
  readonly hasEveryExchange?: true
  /** Loads the reporter. Done before anything is sent, so that writing needs no time or disk space. */
  load(): Promise<Render>
}

export const formats = {
  json: { file: 'conform-report.json', load: async () => renderJson },
  html: {
    file: 'conform-report.html',
    hasEveryExchange: true,
    load: async () => (await import('./html.ts')).renderHtml,
  },
  junit: { file: 'conform-report.xml', load: async () => (await import('./junit.ts')).renderJunit },
  ctrf: {
    file: 'conform-report.ctrf.json',
    load: async () => (await import('./ctrf.ts')).renderCtrf,
  },
  markdown: {
    file: 'conform-report.md',
    load: async () => (await import('./markdown.ts')).renderMarkdown,
  },
  har: {
    file: 'conform-report.har',
    hasEveryExchange: true,
    load: async () => (await import('./har.ts')).renderHar,
  },
  badge: { file: 'conform-report.svg', load: async () => (await import('./badge.ts')).renderBadge },
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof formats

export const formatNames = Object.keys(formats) as FormatName[]

export function renderJson(report: Report): string {
  return `${json(report, 2)}\n`
}
