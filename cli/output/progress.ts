import type { Colors } from 'picocolors/types'
import { count, type RequirementResult } from '../../harness/report/index.ts'
import { terminalText } from '../../reporters/escape.ts'
import { duration } from '../../reporters/view/writing.ts'
import { canRewrite } from '../../library/output/say.ts'

export interface Standing {
  readonly judged: number
  readonly of: number
  readonly failed: number
  readonly ms: number
  /** The operation being judged, or what the run is waiting for. */
  readonly now: string
  /** Estimated remaining time in ms, if known. */
  readonly leftMs?: number | undefined
}

const BAR = 20
const PAUSE_MS = 80
const LOOK_MS = 1000
const LINE_MS = 10_000

/** `█████░░ 133/302 · 2 failed · 12 s, about 30 s left · jobs.create`, cut from the end to fit the columns. */
export function progressLine(standing: Standing, columns: number, colors: Colors): string {
  const { failed, judged, now, of } = standing
  const filled = Math.round((Math.min(judged, of) / Math.max(of, 1)) * BAR)
  const failures = failed > 0 ? [`${failed} failed`] : []
  const parts = [`${judged}/${of}`, ...failures, times(standing), terminalText(now)]
  // Some terminals wrap a line that fills the last column.
  while (parts.length > 1 && BAR + 1 + parts.join(' · ').length > columns - 1) parts.pop()
  const painted = parts.map((part) => (part === failures[0] ? colors.red(part) : colors.dim(part)))
  return `${'█'.repeat(filled)}${colors.dim('░'.repeat(BAR - filled))} ${painted.join(colors.dim(' · '))}`
}

/** `133 of 302 judged, 2 failed; 12 s, about 30 s left; now jobs.create`, for logs. */
export function progressSentence(standing: Standing): string {
  const { failed, judged, of } = standing
  const failures = failed > 0 ? `, ${failed} failed` : ''
  return `${judged} of ${of} judged${failures}; ${times(standing)}; now ${terminalText(standing.now)}`
}

function times({ leftMs, ms }: Pick<Standing, 'leftMs' | 'ms'>): string {
  const taken = ms < 60_000 ? `${Math.floor(ms / 1000)} s` : duration(ms)
  return leftMs === undefined ? taken : `${taken}, about ${roundly(leftMs)} left`
}

/** An estimated time: whole seconds, steps of five from ten on, minutes from two on. */
export function roundly(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  if (seconds < 10) return `${seconds} s`
  return seconds < 120 ? `${Math.ceil(seconds / 5) * 5} s` : `${Math.ceil(seconds / 60)} min`
}

/** Fewer requests do not show the pace. */
const FEWEST = 20

/**
 * Estimates the rest of a run in ms from its pace so far and its rate limit; undefined if unknown or at the end.
 * @param rate requests per second; 0: no limit
 */
export function timeLeft(
  {
    expected,
    rate,
    sent,
  }: { readonly expected: number; readonly rate: number; readonly sent: number },
  ms: number,
): number | undefined {
  const rest = expected - sent
  const byRate = rate > 0 ? (rest / rate) * 1000 : 0
  const byPace = sent < FEWEST ? 0 : (rest * ms) / sent
  const left = Math.max(byRate, byPace)
  return rest <= 0 || left < LOOK_MS ? undefined : left
}

export interface Look {
  /** Ids to be judged; `judged` events of left-out requirements are not counted. */
  readonly planned: ReadonlySet<string>
  /** Estimated and actual number of requests. */
  readonly expected: number
  readonly sent: number
  /** Requests per second; 0: no limit. */
  readonly rate: number
  readonly jobs: number
}

/** Rewrites one line on a terminal; elsewhere prints a line every 10 s. */
export async function showProgress(stream: NodeJS.WriteStream, colors: Colors, look: () => Look) {
  const isRewritten = canRewrite(stream)
  const rewritten = isRewritten ? (await import('log-update')).createLogUpdate(stream) : undefined
  const started = performance.now()
  const told = new Set<string>()
  const failed = new Set<string>()
  let [last, lastResult, operation] = [0, started, 'the first request']
  const standing = (): Standing => {
    const now = performance.now()
    const { jobs, planned, ...sending } = look()
    const isWaiting = now - lastResult > LOOK_MS && jobs > 0
    const jobsText = jobs === 1 ? 'a job' : count(jobs, 'job')
    return {
      judged: [...told].filter((id) => planned.has(id)).length,
      of: planned.size,
      failed: failed.size,
      ms: now - started,
      now: isWaiting ? `waiting for ${jobsText} of the application` : operation,
      leftMs: timeLeft(sending, now - started),
    }
  }
  const show = (): void => {
    last = performance.now()
    if (!rewritten) return void stream.write(`conform: ${progressSentence(standing())}\n`)
    rewritten(progressLine(standing(), stream.columns > 0 ? stream.columns : 80, colors))
  }
  const timer = setInterval(show, rewritten ? LOOK_MS : LINE_MS).unref()
  return {
    result({ id, level, operation: of, outcome }: RequirementResult): void {
      told.add(id)
      if (outcome === 'failed' && level === 'must') failed.add(id)
      lastResult = performance.now()
      operation = of
      if (rewritten && lastResult - last >= PAUSE_MS) show()
    },
    done() {
      clearInterval(timer)
      rewritten?.clear()
      rewritten?.done()
    },
  }
}
