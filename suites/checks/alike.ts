import {
  type Exchange,
  isPage,
  headBytes,
  pathOf,
  type HttpResponse,
  type Probe,
  isOpen,
  describeResponse,
} from '../../harness/journal/index.ts'
import type { Client, Given } from '../../harness/client/index.ts'
import { operations } from '../../catalogue/operations.ts'
import { unknownWord } from './random.ts'
import { placeholderDraft } from './valid-request.ts'
import { ask } from '../../harness/run/index.ts'
import { targetReason } from '../../harness/report/index.ts'

/** Statuses that do not show what the server is: a refused key, a limit, a gateway without its service. */
const saysNothing: readonly number[] = [401, 403, 429, 502, 503, 504]

function likeness(exchange: Exchange): string {
  if (!exchange.response) return ''
  if (isPage(exchange.response)) return 'a page'
  const text = exchange.response.text(headBytes).replaceAll(pathOf(exchange.probe, {}), '')
  const plain = text.replaceAll(exchange.probe.method, '').replaceAll(/[\w:.-]*\d[\w:.-]*/g, '')
  return `${exchange.response.status} ${plain}`
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
  const asked = operations.filter(
    ({ id, method }) => !given.target.absent[id] && !(given.options.readOnly && method !== 'GET'),
  )
  const unknown: Probe = {
    operation: null,
    method: 'GET',
    path: `/v1/${unknownWord(given, 'alike')}`,
    params: {},
    query: {},
    headers: [],
    credential,
    effect: 'none',
  }
  const isReading = asked.some((one) => one.method === 'GET')
  let first: Exchange | undefined
  for (const id of [...(isReading ? [null] : []), ...asked.map((one) => one.id)]) {
    const probe = id === null ? unknown : { ...placeholderDraft(given, id), credential }
    const exchange = await ask(client, probe, purpose)
    if (isOpen(exchange)) return
    first ??= exchange
    const { response } = exchange
    if (!response || saysNothing.includes(response.status)) return
    // An error envelope: a server of the interface, even if it has no operation yet.
    if (response.isEnvelope && response.status >= 400 && response.status !== 500) return
    if (likeness(exchange) !== likeness(first)) return
  }
  if (!first?.response || (given.options.readOnly && first.response.status >= 400)) return
  const { method, url } = first.recorded().request
  const seen = `${method} ${url} got ${describeResponse(first)}`
  const advice = adviceFor(first.response)
  client.life.end('unreachable', targetReason(given.target.baseUrl, `${advice} (${seen})`))
}
