import type { RecordedExchange } from '../../harness/report/model.ts'
import { count } from '../../harness/report/count.ts'
import { exchangeMarkup } from '../../reporters/html/exchange.ts'
import type { Exchanges } from '../../reporters/view/evidence.ts'
import { duration } from '../../reporters/view/writing.ts'

/** Exchanges of one requirement that are shown; of the others only the number is told. */
const most = 50

interface Shown {
  readonly role: RecordedExchange['role']
  /** In ms since 1970. */
  readonly startedAt: number
  readonly durationMs: number
  readonly markup: string
}

interface Sent {
  readonly shown: Shown[]
  all: number
}

/** What was sent for each requirement when it was last judged, as markup. */
export interface SentBook {
  /** Takes in the exchanges of a run: of what it judged, those before are forgotten. */
  take(exchanges: Exchanges): Promise<void>
  /** Those of a requirement: on a time line, then one by one. */
  markupOf(id: string): string
}

export function createSentBook(): SentBook {
  const book = new Map<string, Sent>()
  return {
    async take(exchanges) {
      const fresh = new Map<string, Sent>()
      for await (const exchange of exchanges) {
        if (exchange.requirement === null) continue
        const sent = fresh.get(exchange.requirement) ?? { shown: [], all: 0 }
        fresh.set(exchange.requirement, sent)
        sent.all++
        if (sent.shown.length < most) sent.shown.push(shownOf(exchange))
      }
      for (const [id, sent] of fresh) book.set(id, sent)
    },
    markupOf(id) {
      const sent = book.get(id)
      if (sent === undefined) return '<p class="facts">Nothing was sent for it alone.</p>'
      const rest = sent.all - sent.shown.length
      const more = rest > 0 ? `<p class="x">and ${rest} more: the HAR report has every exchange</p>` : ''
      return timeLine(sent.shown) + sent.shown.map(({ markup }) => markup).join('\n') + more
    },
  }
}

function shownOf(exchange: RecordedExchange): Shown {
  const { durationMs, role, startedAt } = exchange
  return { role, startedAt: Date.parse(startedAt), durationMs, markup: exchangeMarkup(exchange) }
}

/** Height of an exchange on the time line, and its least width, of 1,000. */
const lane = 6
const narrowest = 3

/** When each was sent and answered, one below the other; what is shown is said in words beside it. */
function timeLine(shown: readonly Shown[]): string {
  const first = Math.min(...shown.map(({ startedAt }) => startedAt))
  const last = Math.max(...shown.map(({ durationMs, startedAt }) => startedAt + durationMs))
  const scale = 1000 / Math.max(last - first, 1)
  const bars = shown.map(({ durationMs, role, startedAt }, at) => {
    const width = Math.max(durationMs * scale, narrowest)
    const x = Math.min((startedAt - first) * scale, 1000 - width)
    const tone = role === 'probe' ? 'f' : role === 'control' ? 'p' : 'n'
    return `<rect class="${tone}" x="${x.toFixed(1)}" y="${at * lane}" width="${width.toFixed(1)}" height="${lane - 1}"/>`
  })
  const words = `${count(shown.length, 'exchange')} in ${duration(last - first)}: controls green, probes red, others grey`
  return `<p class="facts">${words}</p><svg class="line" viewBox="0 0 1000 ${shown.length * lane}" height="${shown.length * lane}" preserveAspectRatio="none" aria-hidden="true">${bars.join('')}</svg>`
}
