import type { RunEvent } from '../../harness/engine/events.ts'
import type { Report } from '../../harness/report/model.ts'
import type { SessionFront, Begun, Ended } from '../session/session.ts'
import { type Board, createBoard } from './board.ts'
import type { Patch } from './live.ts'
import { pageMarkup } from './page.ts'
import { onceParts, operationPart, rowParts, type Surroundings } from './parts.ts'
import { count } from '../../harness/report/count.ts'
import { duration } from '../../reporters/view/writing.ts'
import { visible } from '../../reporters/escape/visible.ts'
import { standingOf, type Tone, verdictSentence } from '../../reporters/view/standing.ts'
import { createSentBook } from './sent.ts'

/** What goes on, in words: what is seen, and what a screen reader says when it changes. */
interface Status {
  readonly text: string
  /** Said once; how far a run is, is not. */
  readonly said: string
  readonly progress?: { readonly judged: number; readonly of: number }
}

function begunStatus({ selection, why }: Begun): Status {
  const what = selection === 'all' ? 'Everything' : selection === 'failed' ? 'What failed' : selection.join(', ')
  const text = `${what} is being judged: ${why}`
  return { text, said: text }
}

/** How far the run is; what was said at its beginning stays said. */
function progressStatus({ said }: Status, { planned, rows }: Board): Status {
  const left = [...rows.values()].filter(({ isWaiting }) => isWaiting).length
  const judged = Math.max(planned - left, 0)
  return { text: `${judged} of ${count(planned, 'requirement')} judged`, said, progress: { judged, of: planned } }
}

function endedStatus({ report, selection, changes }: Ended, now = new Date()): Status {
  const at = now.toTimeString().slice(0, 8)
  const took = `${count(report.run.requests, 'request')} in ${duration(report.run.durationMs)}`
  const news = changes ? `; ${changes.newlyFailed.length} newly failed, ${changes.newlyPassed.length} newly passed` : ''
  const result = selection === 'all' ? verdictSentence(report) : partSentence(report)
  return { text: `Ended at ${at}: ${took}${news}`, said: `The run has ended. ${result}${news}` }
}

function partSentence({ requirements }: Report): string {
  const number = (outcome: string): number => requirements.filter((result) => result.outcome === outcome).length
  return `${number('failed')} failed, ${number('passed')} passed`
}

const sentenceStatus = (sentence: string): Status => ({ text: sentence, said: sentence })

/** What the tab of the page says: how far a run is, or how the last one ended. */
function tabOf(board: Board, isRunning: boolean): { readonly title: string; readonly tone: Tone | 'running' } {
  const report = board.report()
  const name = visible(report.target.name)
  const rows = [...board.rows.values()]
  const left = rows.filter(({ isWaiting }) => isWaiting).length
  if (isRunning) return { title: `${Math.max(board.planned - left, 0)}/${board.planned} ${name}`, tone: 'running' }
  if (left > 0) return { title: name, tone: 'running' }
  const { sign, tone, word } = standingOf(report)
  const failures = rows.filter(({ result }) => result.outcome === 'failed').length
  return { title: `${sign} ${failures > 0 ? `${failures} failed` : word}: ${name}`, tone }
}

/** What the page shows: it listens to a session, and gives the page or what changed of it. */
export interface Model {
  readonly front: SessionFront
  page(): string
  /** What was sent for a requirement, as markup. */
  sent(id: string): string
  patchSince(version: number): Patch
}

/** What a page is made for. */
export interface ModelSettings {
  /** The target file, if parts can be added to it. */
  readonly targetFile: string | undefined
  /** How many requirements failed when they were last judged. */
  failed(): number
  onChange(): void
}

export function createModel(empty: Report, { failed, onChange, targetFile }: ModelSettings): Model {
  const board = createBoard(empty)
  let status: Status = { text: 'Not run yet', said: '' }
  let isRunning = false
  const book = createSentBook()
  let around: Surroundings = { targetFile, isWholeRun: false, changes: undefined }
  const now = (next: Status): void => {
    status = next
    onChange()
  }
  const settle = (next: Status): void => {
    isRunning = false
    around = { ...around, isWholeRun: false }
    now(next)
  }
  return {
    front: {
      // The page shows the report of the last run.
      people: { write: () => true },
      begun(run) {
        isRunning = true
        around = { targetFile, isWholeRun: run.selection === 'all', changes: undefined }
        board.touch()
        now(begunStatus(run))
      },
      event(event) {
        take(board, event)
        now(event.kind === 'judged' ? progressStatus(status, board) : status)
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
    },
    page: () => pageMarkup(board, around),
    sent: (id) => book.markupOf(id),
    patchSince: (since) => ({
      version: board.version,
      parts: partsSince(board, around, since),
      state: { ...status, isRunning, failed: failed(), tab: tabOf(board, isRunning) },
    }),
  }
}

function take(board: Board, event: RunEvent): void {
  if (event.kind === 'planned') board.plan(event.plan)
  if (event.kind === 'judged') board.judged(event.result)
}

/** The parts of the page that changed since that version. */
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
