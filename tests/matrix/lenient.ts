import type { PreviousRequest } from '../../harness/engine/exchange.ts'
import { isGranted } from '../../harness/engine/response.ts'
import type { Transport } from '../../harness/http/message.ts'
import { type Judged, judgeReference } from './judge-reference.ts'

/** How bad input is granted that no requirement wants refused: all of it, or all but requests with several faults at once. */
export type Grants = 'all' | 'single faults'

/** A network behind which a server grants whatever it may grant: it does with the bad request what it does with a valid one. */
function lenient(transport: Transport, grants: Grants): Transport {
  const valid = new Map<string, Parameters<Transport['send']>[0]>()
  return {
    ...transport,
    async send(request, options) {
      const { probe, purpose } = (options.tag ?? {}) as Partial<PreviousRequest>
      const known = valid.get(probe?.operation ?? '')
      if (purpose?.role === 'control' && !known) valid.set(probe?.operation ?? '', request)
      const isBad = purpose?.requirement?.endsWith('/bad-input-no-5xx')
      if (!isBad || probe?.effect !== 'generates' || !known) return transport.send(request, options)
      const isRefused = grants === 'single faults' && probe.fault?.includes(' + ')
      return transport.send(isRefused ? { ...known, body: '"text"' } : known, options)
    },
  }
}

/** Judges such a server; gives the requirements on bad input, the reasons of those that were not judged whole, and how much was generated. */
export async function judgeLenient(
  grants: Grants,
  maxGenerations: number,
  only: readonly string[],
) {
  let generated = 0
  const judged = await judgeReference(
    {},
    {
      options: {
        only,
        grantedRuns: 5,
        refusalRuns: 1,
      },
      limits: { maxGenerations },
      network: (transport) => lenient(transport, grants),
      prepare: ({ client }) =>
        client.observers.push(({ probe, response }) => {
          if (probe.effect === 'generates' && response && isGranted(response)) generated++
        }),
    },
  )
  return { ...badInputOf(judged), generated }
}

function badInputOf({ results }: Judged) {
  const rows = results.filter(
    ({ id, reason = '' }) =>
      id.endsWith('/bad-input-no-5xx') &&
      !id.startsWith('envelope') &&
      !reason.startsWith('left out: --only'),
  )
  return { rows, reasons: rows.flatMap(({ reason }) => reason ?? []) }
}
