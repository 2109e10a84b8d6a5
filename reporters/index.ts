import type { Report } from '../harness/report/index.ts'
import { json } from './escape.ts'
import type { Exchanges } from './view/evidence.ts'

/** The text of a report's file, in pieces if the format holds exchanges. Pure. */
export type Render = (report: Report, exchanges: Exchanges) => string | AsyncIterable<string>

interface Format {
  /** The file that it is written to if no path is given. */
  readonly file: string
  /** It shows every exchange: the others show those of failures, which the failures keep. */
  readonly hasEveryExchange?: true
  load(): Promise<Render>
}

/** The forms of the report that `--report` can ask for. */
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
    async load(): Promise<Render> {
      const { renderMarkdown } = await import('./markdown.ts')
      return (report) => renderMarkdown(report)
    },
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

/** The report as it is, `conformance-report/1`, indented by two; parsing it gives the same value. */
export function renderJson(report: Report): string {
  return `${json(report, 2)}\n`
}

let loaded: Promise<Readonly<Record<FormatName, Render>>> | undefined

/**
 * Loads what writes reports: before anything is sent, so that writing waits for nothing and needs no room for compiled code.
 * Once, for a module that is imported again while it is being loaded may be had unfinished.
 */
export function loadFormats(): Promise<Readonly<Record<FormatName, Render>>> {
  loaded ??= Promise.all(
    formatNames.map(async (name) => [name, await formats[name].load()] as const),
  ).then((all) => Object.fromEntries(all) as Record<FormatName, Render>)
  return loaded
}
