import type { Exchanges } from '../view/exchanges.ts'
import { exchangeMarkup } from './exchange.ts'

/** Exchanges of one requirement that are shown; of the others only the number is told. */
const MOST = 50

interface Page {
  readonly shown: string[]
  all: number
}

/** The exchanges by the requirement that sent them; the run's own requests are under `null`. */
export type ExchangeBook = ReadonlyMap<string | null, string>

/**
 * Reads the exchanges once and keeps only their markup, cut as the page shows it, at most `budget` bytes of it:
 * if there are more, the requirements that have most show fewer.
 */
export async function exchangeBook(exchanges: Exchanges, budget: number): Promise<ExchangeBook> {
  const pages = new Map<string | null, Page>()
  for await (const exchange of exchanges) {
    const page = pages.get(exchange.requirement) ?? { shown: [], all: 0 }
    pages.set(exchange.requirement, page)
    page.all += 1
    if (page.shown.length < MOST) page.shown.push(exchangeMarkup(exchange))
  }
  const share = fairShare([...pages.values()].map(sizeOf), budget)
  return new Map([...pages].map(([id, page]) => [id, markupOf(page, share)]))
}

/** The largest share such that everybody who wants less gets all of it and the sum stays within the budget. */
function fairShare(wanted: readonly number[], budget: number): number {
  const ascending = [...wanted].sort((a, b) => a - b)
  let left = budget
  for (const [at, want] of ascending.entries()) {
    const share = left / (ascending.length - at)
    if (want > share) return share
    left -= want
  }
  return Infinity
}

function markupOf({ shown, all }: Page, share: number): string {
  let room = share
  const parts = shown.filter((markup) => (room -= Buffer.byteLength(markup)) >= 0)
  if (all > parts.length)
    parts.push(`<p class="x">and ${all - parts.length} more: the HAR report has every exchange</p>`)
  return parts.join('\n')
}

function sizeOf({ shown }: Page): number {
  return shown.reduce((sum, markup) => sum + Buffer.byteLength(markup), 0)
}
