import { isSame, responseOf, type AnswersDiffer, type RequirementResult } from '../report/index.ts'
import type { HeaderLine } from '../http/index.ts'
import type { Credential, Exchange, Probe } from './exchange.ts'
import { tpeOf } from './response.ts'

/** Which key a request shows: a limit may count those with the full key alone, those with any, or all. */
type Shown = 'full' | 'other' | 'none'

/** What a limit may count a request as. */
export interface Kind {
  /** Null: none of the interface. */
  readonly operation: string | null
  readonly shown: Shown
}

export function kindOfRequest({ operation, credential: { full, value } }: Probe): Kind {
  return { operation, shown: full ? 'full' : value === undefined ? 'none' : 'other' }
}

/** An answer without its content. Times are in ms, as of `performance.now()`. */
export interface Answer extends Kind {
  readonly credential: Credential
  readonly requirement: string | null
  readonly status: number
  readonly tpe: string | undefined
  /** What it was sent for names that status. */
  readonly isAsked: boolean
  readonly sentAt: number
  readonly endedAt: number
  /** It is the target's own: not that of a gateway in front of it, nor to a question after its life. */
  isOwn: boolean
}

/** Headers that tell one answer, and not who gave it. */
const ofOneAnswer =
  /^(?:content-|date$|etag$|last-modified$|connection$|keep-alive$|transfer-encoding$|location$|retry-after$|vary$|cache-control$|www-authenticate$|age$)/i
/** So much of a value is compared, in characters, and shown. */
const longestValue = 4096
const longestShown = 100
/** A header with more values than that names no instance. */
const mostInstances = 20

/** By header, and its value: how often each kind of answer came with it. */
type Headers = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, number>>>

/** The answers of a run in the order of coming: what is asked of all of them together is derived from it. */
export type Log = ReturnType<typeof createLog>

/** @param clean takes keys out of what a header says: a server may send back what it was shown */
export function createLog(clean: (text: string) => string = (text) => text) {
  const answers: Answer[] = []
  const headers = new Map<string, Map<string, Map<string, number>>>()
  /** By names as they are sent, those under which they are compared; null if they tell no instance. */
  const names = new Map<string, string | null>()
  const nameOf = (sent: string): string | null => {
    const known = names.get(sent)
    if (known !== undefined) return known
    const name = ofOneAnswer.test(sent) ? null : sent.toLowerCase()
    names.set(sent, name)
    return name
  }
  const noteHeader = ({ name: sent, value }: HeaderLine, kind: string): void => {
    const name = nameOf(sent)
    if (name === null) return
    const values = headers.get(name) ?? new Map<string, Map<string, number>>()
    headers.set(name, values)
    if (values.size > mostInstances) return
    const compared = value.slice(0, longestValue)
    const counts = values.get(compared) ?? new Map<string, number>()
    values.set(compared, counts.set(kind, (counts.get(kind) ?? 0) + 1))
  }
  return {
    clean,
    answers: answers as readonly Answer[],
    headers: headers as Headers,
    see({ probe, purpose, response, sentAt, endedAt }: Exchange): void {
      if (!response) return
      const { status } = response
      const tpe = tpeOf(response)
      answers.push({
        ...kindOfRequest(probe),
        credential: probe.credential,
        requirement: purpose.requirement,
        status,
        tpe,
        isAsked: purpose.expects?.some(([expected]) => expected === status) ?? false,
        sentAt,
        endedAt,
        isOwn: false,
      })
      const kind = kindOf({ status, tpe })
      for (const line of response.headers) noteHeader(line, kind)
    },
    observe({ sentAt }: Exchange): void {
      const answer = answers.findLast((one) => one.sentAt === sentAt)
      if (answer) answer.isOwn = true
    },
  }
}

const kindOf = ({ status, tpe }: { status: number | null; tpe?: string | undefined }): string =>
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
  { clean, headers, answers }: Log,
  results: Iterable<RequirementResult>,
): AnswersDiffer | undefined {
  const shown = [...results].flatMap(({ failures: [first] }) =>
    first?.takes === 'chance' && first.exchange?.response ? [responseOf(first)] : [],
  )
  if (shown.length < fewestRows) return undefined
  const frequency = (of: (typeof shown)[number]): number =>
    shown.filter((other) => isSame(of, other)).length
  const [answer] = shown.toSorted((one, other) => frequency(other) - frequency(one))
  const kind = kindOf(answer!)
  const alike = answers.filter((one) => kindOf(one) === kind)
  const [first, last] = [alike[0], alike.at(-1)]
  if (!first || !last) return undefined
  const { status, tpe } = first
  const [times, of] = [alike.length, answers.length]
  const [since, until] = [first.endedAt, last.endedAt]
  const before = answers.filter(({ endedAt }) => endedAt < since).length
  const after = answers.filter(({ endedAt }) => endedAt > until).length
  const isDense = times >= nearlyAll * (of - before - after)
  const isChange = before >= fewestBeside ? 'change' : 'instance'
  const like = !isDense ? 'instance' : after >= fewestBeside ? 'outage' : isChange
  const iso = (at: number): string => new Date(performance.timeOrigin + at).toISOString()
  const header = like === 'instance' ? telling(headers, kind, times, of) : undefined
  const cookie = like === 'instance' && !header ? cookieOf(headers, of) : undefined
  return {
    status,
    ...(tpe !== undefined && { tpe }),
    times,
    of,
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
function telling(headers: Headers, kind: string, times: number, of: number) {
  const told = [...headers].flatMap(([name, values]) => {
    if (values.size < 2 || values.size > mostInstances) return []
    return [...values].flatMap(([value, counts]) => {
      const own = counts.get(kind) ?? 0
      return own >= nearlyAll * times ? [{ name, value, own, all: sum(counts) }] : []
    })
  })
  const exact = told.find(({ own, all }) => own >= nearlyAll * all)
  if (exact) return { name: exact.name, value: exact.value }
  const [rare] = told.filter(({ all }) => all < mostOfAll * of).sort((a, b) => a.all - b.all)
  if (!rare || times < fewestTold) return undefined
  const { name, value, all } = rare
  return { name, value, share: Math.max(1, Math.round((all / of) * 100)) }
}

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, number) => all + number, 0)

/** The name of a cookie that is set to a few values, each of them often. */
function cookieOf(headers: Headers, of: number): string | undefined {
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
