import { isSame, responseOf, type AnswersDiffer, type RequirementResult } from '../report/index.ts'
import type { HeaderLine } from '../http/index.ts'
import type { Exchange } from './exchange.ts'
import { tpeOf } from './response.ts'
import { perRun } from './run.ts'

/** Of one kind of answer, a status and a `tpe`: when each came. */
interface Kind {
  readonly status: number
  readonly tpe: string | undefined
  /** ms, as of `performance.now()`; in the order of coming. */
  readonly times: number[]
}

/** Headers that tell one answer, and not who gave it. */
const ofOneAnswer =
  /^(?:content-|date$|etag$|last-modified$|connection$|keep-alive$|transfer-encoding$|location$|retry-after$|vary$|cache-control$|www-authenticate$|age$)/i
/** A header with more values than that names no instance. */
const mostInstances = 20

/** The answers of a run, by kind, and the headers by which instances may be told apart. */
export type Answers = ReturnType<typeof createAnswers>

export function createAnswers() {
  const kinds = new Map<string, Kind>()
  /** By header, and its value: how often each kind came with it. */
  const headers = new Map<string, Map<string, Map<string, number>>>()
  const noteHeader = (name: string, value: string, kind: string): void => {
    const values = headers.get(name) ?? new Map<string, Map<string, number>>()
    headers.set(name, values)
    if (values.size > mostInstances) return
    const counts = values.get(value) ?? new Map<string, number>()
    values.set(value, counts.set(kind, (counts.get(kind) ?? 0) + 1))
  }
  return {
    kinds: kinds as ReadonlyMap<string, Kind>,
    headers: headers as ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, number>>>,
    observe({ endedAt, response }: Exchange, given: readonly HeaderLine[]): void {
      if (!response) return
      const { status } = response
      const tpe = tpeOf(response)
      const key = keyOf({ status, tpe })
      const kind = kinds.get(key) ?? { status, tpe, times: [] }
      kinds.set(key, kind)
      kind.times.push(endedAt)
      for (const { name, value } of given)
        if (!ofOneAnswer.test(name)) noteHeader(name.toLowerCase(), value.slice(0, 100), key)
    },
  }
}

export const answersOf = perRun(createAnswers)

const keyOf = ({ status, tpe }: { status: number | null; tpe?: string | undefined }): string =>
  `${status} ${tpe ?? ''}`

/** As many requirements have to show it: one alone says so itself. */
const fewestRows = 3
/** An answer stands for nearly all in its time, or of its instance, from this share on. */
const nearlyAll = 0.85
/** Answers before or after a change: fewer show none. */
const fewestBeside = 20

/**
 * What the run says once of answers that differ from one time to the next: which answer comes and goes, how often, and what that
 * looks like. Undefined if fewer than a few requirements show it.
 */
export function answersDiffer(
  { headers, kinds }: Answers,
  results: Iterable<RequirementResult>,
): AnswersDiffer | undefined {
  const shown = [...results].flatMap(({ failures: [first] }) =>
    first?.takes === 'chance' && first.exchange?.response ? [responseOf(first)] : [],
  )
  if (shown.length < fewestRows) return undefined
  const frequency = (of: (typeof shown)[number]): number =>
    shown.filter((other) => isSame(of, other)).length
  const [answer] = shown.toSorted((one, other) => frequency(other) - frequency(one))
  const key = keyOf(answer!)
  const { status, tpe, times } = kinds.get(key) ?? {}
  if (status === undefined || times === undefined) return undefined
  const all = [...kinds.values()].flatMap((kind) => kind.times)
  const [since = 0, until = since] = [times[0], times.at(-1)]
  const before = all.filter((at) => at < since).length
  const after = all.filter((at) => at > until).length
  const isDense = times.length >= nearlyAll * (all.length - before - after)
  const like = !isDense
    ? 'instance'
    : after >= fewestBeside
      ? 'outage'
      : before >= fewestBeside
        ? 'change'
        : 'instance'
  const iso = (at: number): string => new Date(performance.timeOrigin + at).toISOString()
  const header = like === 'instance' ? telling(headers, key, times.length) : undefined
  return {
    status,
    ...(tpe !== undefined && { tpe }),
    times: times.length,
    of: all.length,
    requirements: shown.length,
    like,
    since: iso(since),
    until: iso(until),
    ...(header && { header }),
  }
}

/** The header that stands beside nearly all of these answers, and nearly never beside others; one with another value tells the others. */
function telling(headers: Answers['headers'], key: string, times: number) {
  for (const [name, values] of headers) {
    if (values.size < 2 || values.size > mostInstances) continue
    for (const [value, counts] of values) {
      const own = counts.get(key) ?? 0
      const all = [...counts.values()].reduce((sum, number) => sum + number, 0)
      if (own >= nearlyAll * times && own >= nearlyAll * all) return { name, value }
    }
  }
  return undefined
}
