import type { Report } from '../spec/report.ts'
import type { Exchanges } from './exchanges.ts'
export async function* renderHtml(report: Report, _exchanges: Exchanges): AsyncGenerator<string, void, undefined> {
  yield `<!doctype html><title>${report.verdict}</title>`
}
