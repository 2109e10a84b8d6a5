import pc from 'picocolors'
import type { Colors } from 'picocolors/types'
import { terminalLines, terminalText } from '../../reporters/escape/terminal.ts'
import { printed } from '../../harness/recording/index.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { RequirementResult } from '../../harness/report/index.ts'
import { duration } from '../../reporters/view/writing.ts'

/** Says on stderr what is wrong. It may quote a file or an answer of a stranger's: no key, no control and no command of theirs gets out. */
export function complain(text: string): void {
  process.stderr.write(`conform: ${terminalLines(printed.text(text))}\n`)
}

/** Says on stderr what may be meant otherwise. */
export function warnOf(text: string): void {
  complain(`warning: ${text}`)
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Colours for text that goes to that stream. NO_COLOR (https://no-color.org) and FORCE_COLOR decide if they are set;
 * `FORCE_COLOR=0` and `TERM=dumb` mean none, which picocolors does not know.
 */
export function colorsFor(
  stream: { readonly isTTY?: boolean },
  env: Environment = process.env,
): Colors {
  return pc.createColors(wantsColor(stream.isTTY === true, env))
}

/** Whether the terminal can rewrite what it shows. */
export function canRewrite(
  stream: { readonly isTTY?: boolean },
  env: Environment = process.env,
): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb'
}

function wantsColor(
  isTerminal: boolean,
  { CI, FORCE_COLOR, NO_COLOR, TERM }: Environment,
): boolean {
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '')
    return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  if (TERM === 'dumb') return false
  // The logs of CI servers show colours, though they are no terminals.
  return isTerminal || (CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0')
}

interface Standing {
  readonly judged: number
  readonly of: number
  readonly failed: number
  readonly ms: number
  /** Id of the requirement that was judged last. */
  readonly operation: string
}

const BAR = 20
const PAUSE = 80

/** `█████░░ 133/302 · 2 failed · 12 s · jobs.create`, in so many columns at most: what does not fit is left out from its end. */
export function progressLine(
  { failed, judged, ms, of, operation }: Standing,
  columns: number,
  colors: Colors,
): string {
  const filled = Math.round((Math.min(judged, of) / Math.max(of, 1)) * BAR)
  const time = ms < 60_000 ? `${Math.floor(ms / 1000)} s` : duration(ms)
  const failures = failed > 0 ? [`${failed} failed`] : []
  const parts = [`${judged}/${of}`, ...failures, time, terminalText(operation)]
  // The last column stays free: some terminals break a full line.
  while (parts.length > 1 && BAR + 1 + parts.join(' · ').length > columns - 1) parts.pop()
  const painted = parts.map((part) => (part === failures[0] ? colors.red(part) : colors.dim(part)))
  return `${'█'.repeat(filled)}${colors.dim('░'.repeat(BAR - filled))} ${painted.join(colors.dim(' · '))}`
}

/** A line that is rewritten on a terminal that can; nothing elsewhere, for there only the report counts. */
export async function showProgress(stream: NodeJS.WriteStream, colors: Colors) {
  if (!canRewrite(stream)) return { result: (): void => undefined, done: (): void => undefined }
  const { createLogUpdate } = await import('log-update')
  const line = createLogUpdate(stream)
  const started = performance.now()
  const judged = new Set<string>()
  const failed = new Set<string>()
  let last = 0
  return {
    result({ id, level, operation, outcome }: RequirementResult): void {
      judged.add(id)
      if (outcome === 'failed' && level === 'must') failed.add(id)
      const now = performance.now()
      if (now - last < PAUSE) return
      last = now
      const standing = {
        judged: judged.size,
        of: catalogue.length,
        failed: failed.size,
        ms: now - started,
        operation,
      }
      line(progressLine(standing, stream.columns > 0 ? stream.columns : 80, colors))
    },
    done() {
      line.clear()
      // Shows the cursor again.
      line.done()
    },
  }
}
