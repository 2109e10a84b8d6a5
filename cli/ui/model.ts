import { count, type RecordedExchange, type Report } from '../../harness/report/index.ts'
import { visible } from '../../reporters/escape.ts'
import {
  byRequirement,
  exchangeMarkup,
  moreExchanges,
  type SentExchanges,
} from '../../reporters/html/exchange.ts'
import type { Exchanges } from '../../reporters/view/evidence.ts'
import { standingOf, type Tone, verdictSentence } from '../../reporters/view/standing.ts'
import { duration } from '../../reporters/view/writing.ts'
import type { SessionFront, RunEnded } from '../session.ts'
import { timeAndWork } from '../output/progress.ts'
import { type Board, createBoard, type Patch } from './board.ts'
import { pageMarkup, onceParts, operationPart, rowParts, type Surroundings } from './page.ts'

interface Status {
  readonly text: string
  /** Said once; how far a run is, is not. */
  readonly announcement: string
  readonly progress?: { readonly judged: number; readonly of: number }
}

function howFar({ planned, rows }: Board) {
  const left = [...rows.values()].filter(({ isWaiting }) => isWaiting).length
  return { left, judged: Math.max(planned - left, 0), of: planned }
}

function endedStatus({ report, selection, changes }: RunEnded, now = new Date()): Status {
  const at = now.toTimeString().slice(0, 8)
  const took = `${count(report.run.requests, 'request')} in ${duration(report.run.durationMs)}`
  const news = changes
    ? `; ${changes.newlyFailed.length} newly failed, ${changes.newlyPassed.length} newly passed`
    : ''
  const number = (outcome: string): number =>
    report.requirements.filter((one) => one.outcome === outcome).length
  const part = `${number('failed')} failed, ${number('passed')} passed`
  const result = selection === 'all' ? verdictSentence(report) : part
  return {
    text: `Ended at ${at}: ${took}${news}`,
    announcement: `The run has ended. ${result}${news}`,
  }
}

const sentenceStatus = (sentence: string): Status => ({ text: sentence, announcement: sentence })

function tabOf(
  board: Board,
  isRunning: boolean,
): { readonly title: string; readonly tone: Tone | 'running' } {
  const report = board.report()
  const name = visible(report.target.name)
  const { judged, left, of } = howFar(board)
  if (isRunning) return { title: `${judged}/${of} ${name}`, tone: 'running' }
  if (left > 0) return { title: name, tone: 'running' }
  const { sign, tone, word } = standingOf(report)
  const failures = report.requirements.filter(({ outcome }) => outcome === 'failed').length
  return { title: `${sign} ${failures > 0 ? `${failures} failed` : word}: ${name}`, tone }
}

interface ModelSettings {
  /** The target file, if parts can be added to it. */
  readonly targetFile: string | undefined
  readonly hasKey: boolean
  failed(): number
  onChange(): void
}

/** Makes the content of the page: its front listens to a session, the rest gives the page or what changed of it. */
export function createModel(
  empty: Report,
  { failed, hasKey, onChange, targetFile }: ModelSettings,
) {
  const board = createBoard(empty, hasKey)
  /** What it is about or waits for, and for how long still: behind the number that is judged. */
  let work = ''
  let status: Status = { text: 'Not run yet', announcement: '' }
  let isRunning = false
  const book = createSentBook()
  // The page that is asked for first begins the first run.
  let around: Surroundings = { targetFile, isWholeRun: true, changes: undefined }
  const now = (next: Status): void => {
    status = next
    onChange()
  }
  const progressed = (): void => {
    const { judged, of } = howFar(board)
    // What was said at the beginning stays said.
    now({
      ...status,
      text: `${judged} of ${count(of, 'requirement')} judged${work}`,
      progress: { judged, of },
    })
  }
  const settle = (next: Status): void => {
    isRunning = false
    around = { ...around, isWholeRun: false }
    now(next)
  }
  const front: SessionFront = {
    // The page shows the report of the last run.
    people: { write: () => true },
    started(run) {
      isRunning = true
      work = ''
      around = { targetFile, isWholeRun: run.selection === 'all', changes: undefined }
      board.touch()
      const { selection, why } = run
      const what =
        selection === 'all'
          ? 'Everything'
          : selection === 'failed'
            ? 'What failed'
            : selection.join(', ')
      now(sentenceStatus(`${what} is being judged: ${why}`))
    },
    event(event) {
      if (event.kind === 'planned') board.plan(event.plan)
      if (event.kind !== 'judged') return now(status)
      board.judged(event.result)
      progressed()
    },
    standing(standing) {
      work = `; ${timeAndWork(standing)}`
      progressed()
    },
    sent: (exchanges) => book.take(exchanges),
    ended(run) {
      around = { ...around, changes: run.changes }
      board.ended(run.report, run.selection !== 'all')
      settle(endedStatus(run))
    },
    problem(sentence) {
      board.dropped()
      settle(sentenceStatus(sentence))
    },
    gone() {
      board.touch()
      now(sentenceStatus('The target takes no requests. The run starts again when it answers.'))
    },
  }
  return {
    front,
    untested: () => board.untested,
    page: () => pageMarkup(board, around),
    sent: (id: string) => book.markupOf(id),
    patchSince: (since: number): Patch => ({
      version: board.version,
      parts: partsSince(board, around, since),
      state: {
        ...{ ...status, isRunning, failed: failed(), tab: tabOf(board, isRunning) },
        untested: isRunning ? 0 : board.untested.length,
      },
    }),
  }
}

function partsSince(board: Board, around: Surroundings, since: number): Record<string, string> {
  if (since >= board.version) return {}
  const report = board.report()
  const changed = [...board.rows.values()].filter(({ version }) => version > since)
  const operations = new Set(changed.map(({ result }) => result.operation))
  const parts = [
    onceParts(board, around),
    ...changed.map((row) => rowParts(row, report)),
    ...[...operations].map((operation) => operationPart(board, operation)),
  ]
  return Object.assign({}, ...parts) as Record<string, string>
}

interface Shown {
  readonly role: RecordedExchange['role']
  /** In ms since 1970. */
  readonly startedAt: number
  readonly durationMs: number
  readonly markup: string
}

/** Keeps the markup of what was sent for each requirement when it was last judged. */
export function createSentBook() {
  const book = new Map<string | null, SentExchanges<Shown>>()
  return {
    /** Takes in the exchanges of a run: of what it judged, those before are forgotten. */
    async take(exchanges: Exchanges) {
      for (const [id, sent] of await byRequirement(exchanges, shownOf)) book.set(id, sent)
    },
    /** Markup of a requirement's exchanges: on a time line, then one by one. */
    markupOf(id: string): string {
      const sent = book.get(id)
      if (sent === undefined) return '<p class="facts">Nothing was sent for it alone.</p>'
      const { all, shown } = sent
      return (
        timeLine(shown) +
        shown.map(({ markup }) => markup).join('\n') +
        moreExchanges(all - shown.length)
      )
    },
  }
}

function shownOf(exchange: RecordedExchange): Shown {
  const { durationMs, role, startedAt } = exchange
  return { role, startedAt: Date.parse(startedAt), durationMs, markup: exchangeMarkup(exchange) }
}

const lane = 6
const narrowest = 3

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
