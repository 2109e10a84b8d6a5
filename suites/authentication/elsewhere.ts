import { isOperationId } from '../../catalogue/operations.ts'
import { type OtherPlace, otherPlaces, pathsAt, spelled } from '../../catalogue/faults.ts'
import { judgeEach } from '../../harness/checks/at-once.ts'
import type { CheckContext } from '../../harness/engine/check-context.ts'
import { isGranted } from '../../harness/engine/answer.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { perRun } from '../../harness/engine/run.ts'
import { unknownWord } from '../../harness/checks/roles.ts'

/** A credential that is wrong, in words, and as a kind. */
interface Wrong {
  readonly what: string
  readonly kind: string
}

/**
 * Where it is sent: at every path of every place, at one path of each place, at one place in turn, or at the other paths that
 * the spec names.
 */
type Where = 'all' | readonly ['each' | 'turn', number] | readonly ['other path']

/** Requests in a row that got no answer, by place: a gateway may drop what it does not like, and is not asked for ever. */
const unansweredAt = perRun(() => new Map<OtherPlace, number>())
const mostUnanswered = 2

interface Elsewhere {
  readonly place: OtherPlace
  readonly path: string
}

function chosen(id: Parameters<typeof pathsAt>[0], path: string, where: Where): Elsewhere[] {
  const all = otherPlaces.map((place) => pathsAt(id, path, place).map((at) => ({ place, path: at })))
  if (where === 'all') return all.flat()
  const [which, number = 0] = where
  if (which === 'other path') return all[0] ?? []
  const inTurn = all.flatMap((paths) => paths.slice(number % (paths.length || 1)).slice(0, 1))
  return which === 'each'
    ? inTurn
    : inTurn
        .filter(({ place }) => place !== 'other path')
        .slice(number % 4)
        .slice(0, 1)
}

/**
 * §4: all operations need authentication. Whether a server takes another path or spelling for the same operation is its own
 * affair, but what it refuses at one it must not serve at the other: any answer but a 2xx will do. It may be a gateway's.
 */
export async function judgeElsewhere(
  context: CheckContext,
  probe: Probe,
  { what, kind }: Wrong,
  where: Where,
): Promise<void> {
  const { operation } = context.row
  if (!isOperationId(operation)) return
  const all = chosen(operation, probe.path, where)
  // The paths of one place one after the other: whether it is asked again depends on what came.
  await judgeEach(otherPlaces, async (place) => {
    for (const one of all.filter((other) => other.place === place)) await judgeAt(context, probe, { what, kind }, one)
  })
}

async function judgeAt(
  context: CheckContext,
  probe: Probe,
  { what, kind }: Wrong,
  { place, path }: Elsewhere,
): Promise<void> {
  const unanswered = unansweredAt(context.run)
  if ((unanswered.get(place) ?? 0) >= mostUnanswered) return
  const emptied = place === 'no body' ? { body: '' } : {}
  // No operation: what a gateway does with such a path says nothing about the operation itself.
  const sent: Probe = { ...probe, ...emptied, path, operation: null, fault: `${kind} @ ${place}` }
  const exchange = await context.send(sent, { unobserved: true, what, wanted: isRefused })
  unanswered.set(place, exchange.answer ? 0 : (unanswered.get(place) ?? 0) + 1)
  // What was not answered shows nothing, and the usual path is judged anyway.
  if (!exchange.answer || exchange.throttled) return
  context.cases++
  if (!isGranted(exchange.answer) || (await servesAnything(context, sent, place))) return
  const at = place === 'no body' ? 'no body' : `the path ${path}`
  context.fail(exchange, 'any answer but a 2xx: nothing is served without a valid key', `${what}, and ${at}`)
}

const isRefused = ({ answer }: Exchange): boolean => answer !== undefined && !isGranted(answer)

/** True if a path that means nothing is answered by a 2xx as well: such a page is no operation. */
async function servesAnything(context: CheckContext, probe: Probe, place: OtherPlace): Promise<boolean> {
  if (place === 'no body') return false
  const [path = ''] = spelled(`/v1/${unknownWord(context.run, context.row.id)}`, place)
  const exchange = await context.send({ ...probe, path, fault: undefined }, { unobserved: true, role: 'control' })
  return exchange.answer !== undefined && isGranted(exchange.answer)
}
