import type { RequirementResult } from './model.ts'

/** What can leave a requirement out. */
export type LeftOutBy = '--only' | '--skip' | '--read-only' | '--shard' | '--bail' | '--max-failures' | 'interrupted'

/** The kinds of reasons that something depends on; the report has a reason as one text, which begins like this. */
const beginnings = {
  leftOut: 'left out: ',
  mistake: 'a mistake of the suite: ',
  undeclared: 'declare ',
  unreachable: 'declared unreachable: ',
} as const

/** How what was received begins, in a failure of an answer that is right on a connection of its own. */
export const onReusedConnection = 'wrong only on a reused connection: '

/** How it begins if the connection is taken for that of the key that was shown on it. */
export const onRememberedKey = `${onReusedConnection}the connection remembers a key that was shown on it: `

type Kind = keyof typeof beginnings

/** A reason for which a requirement was not judged. */
interface Reason {
  readonly kind: Kind | 'other'
  /** What the kind does not say: the option, the message, the members to declare. */
  readonly detail: string
}

/** The reason as it is written in a report. */
export function reasonText(kind: Kind, detail: string): string {
  return beginnings[kind] + detail
}

/** Reads a reason of a report: the only place that knows how reasons begin. */
export function parseReason(text: string): Reason {
  for (const [kind, beginning] of Object.entries(beginnings)) {
    if (text.startsWith(beginning)) return { kind: kind as Kind, detail: text.slice(beginning.length) }
  }
  return { kind: 'other', detail: text }
}

/** What a requirement lacks in the target file. */
interface Undeclared {
  /** Each need by its names, of which one will do: `resources.pdfFile`, `operations.files.upload`. */
  readonly needs: readonly (readonly string[])[]
  /** Part of a target file that declares the first name of each, as one line of JSON. */
  readonly example: string
}

const example = ', for example '

export function undeclaredReason(lacking: Undeclared): string {
  const needs = lacking.needs.map((names) => names.join(' or ')).join(' and ')
  return reasonText('undeclared', `${needs}${example}${lacking.example}`)
}

/** What a reason says that is lacking; undefined if it is another reason, or none of this suite's. */
export function undeclaredIn(reason: string): Undeclared | undefined {
  const { kind, detail } = parseReason(reason)
  const at = detail.indexOf(example)
  if (kind !== 'undeclared' || at < 0) return undefined
  const needs = detail.slice(0, at).split(' and ')
  return { needs: needs.map((names) => names.split(' or ')), example: detail.slice(at + example.length) }
}

/** The reason of a requirement that an option, or the end of the run, left out: `left out: --shard`. */
export function leftOut(by: LeftOutBy): string {
  return reasonText('leftOut', by)
}

/** The reason of a requirement whose check threw what it should not. */
export function mistakeReason(error: unknown): string {
  return reasonText('mistake', error instanceof Error ? error.message : String(error))
}

const ofTarget = ' cannot be judged: '

/** Why a target cannot be judged, with its address. */
export function targetReason(baseUrl: string, why: string): string {
  return `${baseUrl}${ofTarget}${why}`
}

/** Whether the reason says by itself that the target cannot be judged. */
export function isTargetReason(reason: string): boolean {
  return reason.includes(ofTarget)
}

type Judged = Pick<RequirementResult, 'outcome' | 'reason'>

function reasonNotExercised({ outcome, reason }: Judged): Reason | undefined {
  return outcome === 'not-exercised' && reason !== undefined ? parseReason(reason) : undefined
}

/** Whether the result was left out: by anything, or by this. What was left out never counts against a target. */
export function isLeftOut(result: Judged, by?: LeftOutBy): boolean {
  const reason = reasonNotExercised(result)
  return reason?.kind === 'leftOut' && (by === undefined || reason.detail === by)
}

/** The options that choose what is judged. */
const choosing: readonly LeftOutBy[] = ['--only', '--skip', '--read-only', '--shard']

/** Whether an option left the requirement out, so that nobody wants to know why it was not judged. */
export function isLeftOutByOption(result: Judged): boolean {
  return choosing.some((option) => isLeftOut(result, option))
}

/** True if the suite itself failed to judge the requirement: nothing is known of the target then. */
export function isMistake(result: Judged): boolean {
  return reasonNotExercised(result)?.kind === 'mistake'
}

/** The reason that most of the requirements share that were not exercised although no option left them out. */
export function commonReason(results: readonly RequirementResult[]): string | undefined {
  const times = new Map<string, number>()
  for (const result of results) {
    const { outcome, reason } = result
    if (outcome !== 'not-exercised' || reason === undefined || isLeftOut(result)) continue
    times.set(reason, (times.get(reason) ?? 0) + 1)
  }
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0]
}

/** `1 must`, `2 musts`, `1 entry`, `2 entries` */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
