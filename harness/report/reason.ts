import { groupBy } from '../group-by.ts'
import { type Absence, choosing, type LeftOutBy, type Why } from './result-schema.ts'
import type { RequirementResult } from './report-schema.ts'

/** A reason for which a requirement was not judged: in words, and its kind if something depends on it. */
export interface Reason {
  readonly reason: string
  readonly why?: Why
}

/** A reason of no kind that something depends on. */
export function plainReason(reason: string | Reason): Reason {
  return typeof reason === 'string' ? { reason } : reason
}

export function reasonIn({ reason, why }: Reason): Reason {
  return { reason, ...(why && { why }) }
}

/** The reason of a requirement that an option, or the end of the run, left out: `left out: --skip`. */
export function leftOut(by: LeftOutBy): Reason {
  return { reason: `left out: ${by}`, why: { kind: 'left-out', by } }
}

/**
 * The reason of a requirement for which the target file declares too little.
 * @param needs of each need the names of which one will do
 * @param example part of a target file that declares the first name of each, as one line of JSON
 */
export function undeclaredReason(needs: string[][], example: string): Reason {
  return {
    reason: `declare ${sayNeeds(needs)}, for example ${example}`,
    why: { kind: 'undeclared', needs, example },
  }
}

/** Names in words what of a target file is needed: `resources.pdfFile and a scenario for jobs.create/410-gone`. */
export function sayNeeds(needs: readonly (readonly string[])[]): string {
  return needs.map((names) => names.map(sayNeed).join(' or ')).join(' and ')
}

export function sayNeed(name: string): string {
  return name.replace(/^scenarios\./, 'a scenario for ')
}

/** The reason of a requirement whose operation the target file declares away, or those by which alone it is seen. */
export function absentReason(absence: Absence, seenBy: readonly string[] = []): Reason {
  const which = seenBy.length > 0 ? `${seenBy.join(', ')}: ` : ''
  const why = {
    kind: 'absent',
    absence,
    ...(seenBy.length > 0 && { seenBy: [...seenBy] }),
  } as const
  return { reason: `${which}declared ${absence.replace('-', ' ')}`, why }
}

export function unreachableReason(note: string): Reason {
  return { reason: `declared unreachable: ${note}`, why: { kind: 'unreachable', note } }
}

export function mistakeReason(error: unknown): Reason {
  const message = error instanceof Error ? error.message : String(error)
  return { reason: `a mistake of the suite: ${message}`, why: { kind: 'mistake' } }
}

export function targetReason(baseUrl: string, problem: string): Reason {
  return { reason: `${baseUrl} cannot be judged: ${problem}`, why: { kind: 'target' } }
}

type Judged = Pick<RequirementResult, 'outcome' | 'why'>

/** Whether the result was left out: by anything, or by this. What was left out never counts against a target. */
export function isLeftOut({ outcome, why }: Judged, by?: LeftOutBy): boolean {
  return (
    outcome === 'not-exercised' && why?.kind === 'left-out' && (by === undefined || why.by === by)
  )
}

/** Whether an option left the requirement out, so that nobody wants to know why it was not judged. */
export function isLeftOutByOption({ outcome, why }: Judged): boolean {
  const options: readonly LeftOutBy[] = choosing
  return outcome === 'not-exercised' && why?.kind === 'left-out' && options.includes(why.by)
}

/** True if the suite itself failed to judge the requirement: nothing is known of the target then. */
export function isMistake({ outcome, why }: Judged): boolean {
  return outcome === 'not-exercised' && why?.kind === 'mistake'
}

/** The reason that most of the requirements share that were not exercised although no option left them out. */
export function commonReason(results: readonly RequirementResult[]): Reason | undefined {
  const wanted = results.filter(
    (result) => result.outcome === 'not-exercised' && !isLeftOut(result),
  )
  const groups = [...groupBy(wanted, ({ reason }) => reason)]
  const known = groups.filter(([reason]) => reason !== undefined)
  const [most] = known.toSorted(([, one], [, other]) => other.length - one.length)
  return most && reasonIn(most[1][0] as Reason)
}

/** Sections as a reader writes them: `4.2, 8` is `§4.2, §8`. */
export function sections(section: string): string {
  return sectionsIn(section).join(', ')
}

export function sectionsIn(section: string): string[] {
  return section.split(',').map((part) => `§${part.trim()}`)
}

/** `1 must`, `2 musts`, `1 entry`, `2 entries` */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

/** Requests a second of a rate as people write it, `10` or `60/min`; undefined if it is none. */
export function rateOf(text: string): number | undefined {
  const [, number = '', minute] = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*(\/\s*min)?\s*$/.exec(text) ?? []
  if (number === '') return undefined
  return minute === undefined ? Number(number) : Number(number) / 60
}

/** A number of requests a second in words: `10 a second`, `60 a minute`. */
export function spokenRate(requestsPerSecond: number): string {
  const perMinute = Math.round(requestsPerSecond * 60)
  return perMinute >= 120 ? `${requestsPerSecond} a second` : `${perMinute} a minute`
}
