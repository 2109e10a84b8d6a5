import type { Report } from '../harness/report/index.ts'
import { renderBadge } from './badge.ts'
import { renderCtrf } from './ctrf.ts'
import type { Exchanges } from './view/evidence.ts'
import { renderHar } from './har.ts'
import { renderHtml } from './html.ts'
import { renderJunit } from './junit.ts'
import { renderMap } from './map.ts'
import { renderMarkdown } from './markdown.ts'
import type { Shown } from './view/next-steps.ts'
import { json } from './escape/json.ts'

/** A form of the report that `--report` can ask for. Pure: the text of the file, in pieces if the format holds exchanges. */
export type Format = (
  report: Report,
  exchanges: Exchanges,
  run?: Shown,
) => string | AsyncIterable<string>

export const formats = {
  json: renderJson,
  html: renderHtml,
  junit: renderJunit,
  ctrf: renderCtrf,
  markdown: (report, _exchanges, run = {}) => renderMarkdown(report, 25, run),
  har: renderHar,
  badge: renderBadge,
  map: renderMap,
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof formats

/** The report as it is, `conformance-report/1`, indented by two; parsing it gives the same value. */
export function renderJson(report: Report): string {
  return `${json(report, 2)}\n`
}
