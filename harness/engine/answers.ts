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
/** So much of a value is compared, in characters, and shown. */
const longestValue = 4096
const longestShown = 100
/** A header with more values than that names no instance. */
const mostInstances = 20

/** The answers of a run, by kind, and the headers by which instances may be told apart. */
export type Answers = ReturnType<typeof createAnswers>

/** @param clean takes keys out of what a header says: a server may send back what it was shown */
export function createAnswers(clean: (text: string) => string = (text) => text) {
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
    clean,
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
        if (!ofOneAnswer.test(name))
          noteHeader(name.toLowerCase(), value.slice(0, longestValue), key)
    },
  }
}

export const answersOf = perRun(({ client: { recorder } }) =>
  createAnswers((text) => recorder.redact(text)),
)

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
  { clean, headers, kinds }: Answers,
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
  const header = like === 'instance' ? telling(headers, key, times.length, all.length) : undefined
  const cookie = like === 'instance' && !header ? cookieOf(headers, all.length) : undefined
  return {
    status,
    ...(tpe !== undefined && { tpe }),
    times: times.length,
    of: all.length,
    requirements: shown.length,
    like,
    since: iso(since),
    until: iso(until),
    ...(header && { header: { ...header, value: clean(header.value).slice(0, longestShown) } }),
    ...(cookie !== undefined && { cookie }),
  }
}

/** A value of a header that so large a share of all answers have tells no instance of several. */
const mostOfAll = 0.5
/** Fewer answers than that share a header by chance. */
const fewestTold = 5

/**
 * The header that stands beside nearly all of these answers, and nearly never beside others, where another value tells the others;
 * else one that few of all answers have: an instance may answer otherwise to some requests alone.
 */
function telling(headers: Answers['headers'], key: string, times: number, of: number) {
  const told = [...headers].flatMap(([name, values]) => {
    if (values.size < 2 || values.size > mostInstances) return []
    return [...values].flatMap(([value, counts]) => {
      const own = counts.get(key) ?? 0
      const all = sum(counts)
      return own >= nearlyAll * times ? [{ name, value, own, all }] : []
    })
  })
  const exact = told.find(({ own, all }) => own >= nearlyAll * all)
  if (exact) return { name: exact.name, value: exact.value }
  const [rare] = told.filter(({ all }) => all < mostOfAll * of).sort((a, b) => a.all - b.all)
  if (!rare || times < fewestTold) return undefined
  return {
    name: rare.name,
    value: rare.value,
    share: Math.max(1, Math.round((rare.all / of) * 100)),
  }
}

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, number) => all + number, 0)

/** The name of a cookie that is set to a few values, each of them often. */
function cookieOf(headers: Answers['headers'], of: number): string | undefined {
  const byName = new Map<string, Map<string, number>>()
  for (const [text, counts] of headers.get('set-cookie') ?? []) {
    const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(text) ?? []
    const values = byName.get(name) ?? new Map<string, number>()
    byName.set(name, values.set(value, (values.get(value) ?? 0) + sum(counts)))
  }
  const isOften = (times: number): boolean => times >= of / (2 * mostInstances)
  return [...byName].find(
    ([, values]) => values.size > 1 && [...values.values()].every(isOften),
  )?.[0]
}
