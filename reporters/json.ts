import type { Report } from '../harness/report/model.ts'
import { json } from './escape/json.ts'

/** The report as it is, `conformance-report/1`, indented by two; parsing it gives the same value. */
export function renderJson(report: Report): string {
  return `${json(report, 2)}\n`
}
