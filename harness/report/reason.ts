import { groupBy, largestFirst } from '../group-by.ts'
import {
  type Absence,
  type LeftOutBy,
  type Why,
  type RequirementResult,
} from '../../schemas/report.ts'

/** Why a requirement was not judged: in words, and its kind if something depends on it. */
export interface Reason {
  readonly reason: string
  readonly why?: Why
}

export function plainReason(reason: string | Reason): Reason {
  return typeof reason === 'string' ? { reason } : reason
}

export function reasonIn(one: Reason): Reason {
  return { reason: one.reason, ...(one.why && { why: one.why }) }
}

export function leftOut(by: LeftOutBy): Reason {
  return { reason: `left out: ${by}`, why: { kind: 'left-out', by } }
}

/**
 * The reason of a requirement for which the target file declares too little.
 * @param needs alternatives per need
 * @param example one line of JSON that declares the first alternative of each
 */
export function undeclaredReason(needs: string[][], example: string): Reason {
  return {
    reason: `declare ${sayNeeds(needs)}, for example ${example}`,
    why: { kind: 'undeclared', needs, example },
  }
}

/** For example `resources.pdfFile and a scenario for jobs.create/410-gone`. */
export function sayNeeds(needs: readonly (readonly string[])[]): string {
  return needs.map((names) => names.map(sayNeed).join(' or ')).join(' and ')
}

export function sayNeed(name: string): string {
  return name.replace(/^scenarios\./, 'a scenario for ')
}

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

type HowJudged = Pick<RequirementResult, 'outcome' | 'why'>

/** @param by by one of these; default: by any */
export function isLeftOut(judged: HowJudged, ...by: readonly LeftOutBy[]): boolean {
  const { why } = judged
  const isOne = judged.outcome === 'not-exercised' && why?.kind === 'left-out'
  return isOne && (by.length === 0 || by.includes(why.by))
}

export function isLeftOutByOption(judged: HowJudged): boolean {
  return isLeftOut(judged, '--only', '--failed', '--skip', '--read-only')
}

export function isMistake(judged: HowJudged): boolean {
  return judged.outcome === 'not-exercised' && judged.why?.kind === 'mistake'
}

/** The most frequent reason why requirements were not judged; that they were left out, only if nothing else is. */
export function commonReason(results: readonly RequirementResult[]): Reason | undefined {
  const untested = results.filter((result) => result.outcome === 'not-exercised')
  const missed = untested.filter((result) => !isLeftOut(result))
  const some = [missed, untested].find((ones) => ones.length > 0) ?? results
  const wanted = some.filter((one) => one.reason !== undefined)
  const [most] = largestFirst(groupBy(wanted, (one) => one.reason))
  return most && reasonIn(most[1][0] as Reason)
}

/** Formats sections: `4.2, 8` becomes `§4.2, §8`. */
export function sections(section: string): string {
  return section
    .split(',')
    .map((part) => `§${part.trim()}`)
    .join(', ')
}

export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

/** Parses a rate such as `10` or `60/min` into requests per second; undefined if malformed. */
export function rateOf(text: string): number | undefined {
  const [, number = '', minute] = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*(\/\s*min)?\s*$/.exec(text) ?? []
  if (number === '') return undefined
  return minute === undefined ? Number(number) : Number(number) / 60
}

/** For example `10 a second`, `60 a minute`. */
export function spokenRate(requestsPerSecond: number): string {
  const perMinute = Math.round(requestsPerSecond * 60)
  return perMinute >= 120 ? `${requestsPerSecond} a second` : `${perMinute} a minute`
}
