import { isGranted } from '../../harness/journal/response.ts'
import type { HttpRequest } from '../../harness/http/message.ts'
import { judge, type Way } from '../engine/networks.ts'

/** How bad input is granted that no requirement wants refused: all of it, or all but requests with several faults at once. */
export type Grants = 'all' | 'single faults'

/**
 * Judges a server that grants whatever it may grant: it does with the bad request what it does with a valid one. Gives the
 * requirements on bad input, the reasons of those that were not judged whole, and how much was generated.
 */
export async function judgeLenient(
  grants: Grants,
  maxGenerations: number,
  only: readonly string[],
) {
  const valid = new Map<string, HttpRequest>()
  const way: Way = (request, send, { probe, purpose }) => {
    const known = valid.get(probe?.operation ?? '')
    if (purpose?.role === 'control' && !known) valid.set(probe?.operation ?? '', request)
    const isBad = purpose?.requirement?.endsWith('/bad-input-no-5xx')
    if (!isBad || probe?.effect !== 'generates' || !known) return send()
    const isRefused = grants === 'single faults' && probe.fault?.includes(' + ')
    return send(isRefused ? { ...known, body: '"text"' } : known)
  }
  let generated = 0
  const { results } = await judge(only, {
    grantedRuns: 5,
    refusalRuns: 1,
    limits: { maxGenerations },
    way,
    prepare: ({ client }) =>
      client.observers.push(({ probe, response }) => {
        if (probe.effect === 'generates' && response && isGranted(response)) generated++
      }),
  })
  const rows = results.filter(
    ({ id, reason = '' }) =>
      id.endsWith('/bad-input-no-5xx') &&
      !id.startsWith('envelope') &&
      !reason.startsWith('left out: --only'),
  )
  return { rows, reasons: rows.flatMap(({ reason }) => reason ?? []), generated }
}
