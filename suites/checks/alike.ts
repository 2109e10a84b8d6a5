import type { Given, Client } from '../../harness/client/index.ts'
import { operations } from '../../catalogue/operations.ts'
import {
  describeResponse,
  type Exchange,
  headBytes,
  type HttpResponse,
  isPage,
  pathOf,
  type Probe,
} from '../../harness/journal/index.ts'
import { targetReason } from '../../harness/report/index.ts'
import { askHolding } from '../../harness/run/index.ts'
import { placeholderDraft } from './valid-request.ts'
import { unknownWord } from './values.ts'

/** Statuses that do not show what the server is: a refused key, a limit, a gateway without its service. */
const saysNothing: readonly number[] = [401, 403, 429, 502, 503, 504]

/** An error envelope: a server of the interface, even if it has no operation yet. */
const isOwn = (response: HttpResponse): boolean =>
  response.isEnvelope && response.status >= 400 && response.status !== 500

function likeness(exchange: Exchange): string {
  if (!exchange.response) return ''
  if (isPage(exchange.response)) return 'a page'
  const text = exchange.response
    .text(headBytes)
    .replaceAll(pathOf(exchange.probe, {}), '')
    .replaceAll(exchange.probe.method, '')
  return `${exchange.response.status} ${text.replaceAll(/[\w:.-]*\d[\w:.-]*/g, '')}`
}

function* probesOf(given: Given): Generator<Probe> {
  const { absent } = given.target
  const drafts = operations
    .filter(
      (operation) =>
        !absent[operation.id] && (operation.method === 'GET' || !given.options.readOnly),
    )
    .map((operation) => placeholderDraft(given, operation.id))
  const [reading] = drafts.filter((draft) => draft.method === 'GET')
  if (reading)
    yield { ...reading, operation: null, path: `/v1/${unknownWord(given, 'alike')}`, params: {} }
  yield* drafts
}

function adviceFor(response: HttpResponse): string {
  const { status } = response
  if (status >= 500) return 'every path gets the same error: check the log of the server'
  if (isPage(response)) return 'this looks like a website, not the API: check the base URL'
  return status >= 300 && status < 400
    ? 'every path is redirected, and a redirect is not followed: serve the documented paths directly'
    : 'every path gets the same answer: check the base URL'
}

/** Before anything is judged, ends the run if every path gets the same answer, or a page: then this is not the API. */
export async function endIfAlike(client: Client, given: Given): Promise<void> {
  if (!given.keys.hasFull) return
  const credential = await given.keys.full()
  const purpose = { requirement: null, role: 'probe', skipPassive: true } as const
  let first: Exchange | undefined
  for (const probe of probesOf(given)) {
    const exchange = await askHolding(client, { ...probe, credential }, purpose)
    first ??= exchange
    const { response } = exchange
    if (!response || saysNothing.includes(response.status) || isOwn(response)) return
    if (likeness(exchange) !== likeness(first)) return
  }
  if (!first?.response || (given.options.readOnly && first.response.status >= 400)) return
  const { method, url } = first.recorded().request
  const seen = `${method} ${url} got ${describeResponse(first)}`
  const advice = adviceFor(first.response)
  client.life.end('unreachable', targetReason(given.target.baseUrl, `${advice} (${seen})`))
}
