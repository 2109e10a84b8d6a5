import type { NotServed } from '../report/index.ts'
import { describeResponse, isPage, type Exchange, pathOf, isThrottled } from '../journal/index.ts'
import { doubled } from './gateway.ts'

/** A server without any of this many operations is not the intended one. */
const fewestOperations = 3

/** Statuses that gateways return too, and so prove nothing about an operation. */
const saysNothing: readonly number[] = [401, 403, 502, 504]

export type Signs = ReturnType<typeof createSigns>

export function createSigns(baseUrl: string) {
  const subjects = new Map<string, string>()
  let first: Exchange | undefined
  const asked = new Set<string>()
  const there = new Set<string>()
  const missing = new Map<string, string>()

  const noteAbsence = (exchange: Exchange): void => {
    const { probe, purpose, response } = exchange
    const { operation } = probe
    if (!response || purpose.skipPassive || purpose.skipJudging || operation === null) return
    const { status } = response
    const isMissing = [405, 501].includes(status) || (status === 404 && response.tpe === undefined)
    asked.add(operation)
    if (saysNothing.includes(status) || isThrottled(response)) return
    if (!isMissing) there.add(operation)
    else if (!missing.has(operation)) {
      const [path] = pathOf(probe, {}).split('?')
      missing.set(operation, describeResponse(exchange).replaceAll(path!, '<path>'))
    }
  }
  const absent = (): NotServed[] =>
    [...missing].flatMap(([operation, answered]) =>
      there.has(operation) ? [] : [{ operation, answered }],
    )
  const isNowhere = (): boolean => asked.size >= fewestOperations && absent().length === asked.size
  const ofTarget = (): string | undefined => {
    if (!first?.response || [401, 429, 503].includes(first.response.status)) return undefined
    const { response } = first
    const isGranted = response.status < 300
    if (/\/v1$/.test(new URL(baseUrl).pathname) && !isGranted) return doubled
    if (isPage(response) && (isGranted || isNowhere()))
      return 'this looks like a website, not the API: check the base URL'
    return isNowhere() ? 'no operation of the interface was found: check the base URL' : undefined
  }
  return {
    observe(exchange: Exchange): void {
      first ??= exchange
      noteAbsence(exchange)
    },
    add(subject: string, sentence: string): void {
      if (!subjects.has(subject)) subjects.set(subject, sentence)
    },
    /**
     * The conclusions.
     * @param clean removes keys from the target's text
     */
    facts(clean: (text: string) => string) {
      const advice = ofTarget()
      const request = first?.recorded().request
      const seen = `${request?.method} ${request?.url} got ${first && describeResponse(first)}`
      const hints = advice === undefined ? [] : [`${advice} (${seen})`]
      return {
        hints: [...hints, ...subjects.values()].map(clean),
        absent: isNowhere()
          ? []
          : absent().map((one) => ({ operation: one.operation, answered: clean(one.answered) })),
      }
    },
  }
}
