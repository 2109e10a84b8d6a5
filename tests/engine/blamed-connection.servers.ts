import { expect, test } from 'vitest'
import { createReference } from '../../reference/server.ts'
import { onRememberedKey, onReusedConnection } from '../../harness/engine/describe.ts'
import type { Transport } from '../../harness/http/message.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import {
  idsOf,
  judgeReference,
  type JudgeSettings,
  judgeUrl,
  transportTo,
} from '../matrix/judge-reference.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import { answered, type Connection, headerOf, overConnections, type Server } from './connections.ts'

const differ = '; the answers to one request differ: '
const seeds = [1, 2, 3]

/** Numbers from 0 to 1 that are drawn from a seed. */
function drawnFrom(seed: number): () => number {
  let state = seed
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
}

const over =
  (server: Server) =>
  (transport: Transport): Transport =>
    overConnections(transport, server)

/** Ids that failed because of a connection, or whose answers differ. */
function toldOf(results: readonly RequirementResult[], words: string): string[] {
  return results
    .filter(({ failures }) => failures.some(({ actual }) => actual.includes(words)))
    .map(({ id }) => id)
}

const broken = JSON.stringify({ tpe: 'InternalError', errors: [], extras: {} })
const some = ['files.*', 'graphs.query/*', 'pdf.parse/2*', 'pdf.parse/404-*', 'translate.run/*']

/** Judges replicas that share no state: each connection goes to one of them. */
function judgeReplicas(replicaOf: (connection: Connection) => number, settings: JudgeSettings) {
  return inVirtualTime(async () => {
    const replicas = [0, 1].map(() => createReference({ jobMs: 20 }))
    const networks = replicas.map((replica) => transportTo(replica))
    const transport = overConnections(networks[0]!, (connection, request) =>
      networks[replicaOf(connection) % 2]!.send(request, { timeoutMs: 10_000 }),
    )
    return judgeUrl(replicas[0]!.url, { ...settings, transport })
  })
}

test.each([
  [
    'in turn',
    () =>
      ({ number }: Connection) =>
        number,
  ],
  ...seeds.map((seed): [string, () => (connection: Connection) => number] => [
    `at random, ${seed}`,
    () => {
      const drawn = drawnFrom(seed)
      const taken = new Map<Connection, number>()
      return (connection) => {
        const replica = taken.get(connection) ?? Math.floor(drawn() * 2)
        taken.set(connection, replica)
        return replica
      }
    },
  ]),
])(
  'replicas without shared state, connections taken %s: no connection is blamed',
  async (_, replicaOf) => {
    const { results } = await judgeReplicas(replicaOf(), { options: { only: some } })
    expect(toldOf(results, onReusedConnection)).toEqual([])
  },
)

test.each([
  [
    'every third',
    () =>
      (
        (count) => () =>
          ++count % 3 === 0
      )(0),
  ],
  ...seeds.map((seed): [string, () => () => boolean] => [
    `one in three at random, ${seed}`,
    () =>
      (
        (drawn) => () =>
          drawn() < 1 / 3
      )(drawnFrom(seed)),
  ]),
])(
  'a fault in %s answer is told as what it is, with all answers and how often each came',
  async (_, made) => {
    const isFault = made()
    const network = over(async (_connection, _request, send) => {
      const result = await send()
      return isFault() ? answered(result, 500, broken) : result
    })
    const { results } = await judgeReference({ jobMs: 20 }, { network, options: { only: some } })
    expect(toldOf(results, onReusedConnection)).toEqual([])
    const told = toldOf(results, differ)
    expect(told.length).toBeGreaterThan(3)
    const { actual } = results
      .find(({ id }) => id === told[0])!
      .failures.find((one) => one.actual.includes(differ))!
    expect(actual).toMatch(
      /^500 InternalError; the answers to one request differ: \d+ of \d+: 500 InternalError; \d+ of \d+: /,
    )
  },
)

test('an upload that can be used a little later is waited for, on whatever connection it is asked for', async () => {
  const network = over((_connection, _request, send) => send())
  const { results } = await judgeReference(
    { variants: ['settling/uploads'] },
    { network, options: { only: some } },
  )
  expect(idsOf(results, 'failed')).toEqual([])
})

/** Refuses without reading the body, so that it stands before the next request. */
const leavesUnread: Server = async ({ exchanges }, _request, send) => {
  const last = exchanges.at(-1)
  const unread =
    last?.request.body !== undefined && headerOf(last.request, 'authorization') === undefined
  const result = await send()
  return unread ? answered(result, 501, '<html>Unsupported method', 'text/html') : result
}

test('a request that leaves its connection unusable is named, and no request after it', async () => {
  const { results } = await judgeReference(
    { jobMs: 20 },
    { network: over(leavesUnread), options: { only: [...some, 'envelope/*'] } },
  )
  const failed = idsOf(results, 'failed')
  expect(failed.length).toBeGreaterThan(2)
  expect(failed.filter((id) => !id.endsWith('/401-missing-credentials'))).toEqual([])
  expect(toldOf(results, onReusedConnection)).toEqual(failed)
  expect(toldOf(results, differ)).toEqual([])
})

test('what leaves its connection unusable after it was granted is named too', async () => {
  const network = over(async ({ exchanges }, _request, send) => {
    const last = exchanges.at(-1)
    const isUpload = last?.request.method === 'POST' && last.request.path === '/v1/files'
    const result = await send()
    const granted = isUpload && last.result.kind === 'answer' && last.result.status < 300
    return granted ? answered(result, 400, broken) : result
  })
  const { results } = await judgeReference(
    { jobMs: 20 },
    { network, options: { only: [...some, 'graphs.add-file/*'] } },
  )
  expect(
    toldOf(results, onReusedConnection).filter((id) => !id.startsWith('files.upload/')),
  ).toEqual([])
  expect(toldOf(results, onReusedConnection)).toContain('files.upload/2xx-accepted')
})

test('a connection that remembers the key is found by the rows of credentials, and named', async () => {
  const shown = new WeakMap<Connection, string>()
  const network = (transport: Transport): Transport =>
    overConnections(transport, async (connection, request) => {
      const key = headerOf(request, 'authorization') ?? shown.get(connection)
      const headers = request.headers.filter(({ name }) => name.toLowerCase() !== 'authorization')
      const known =
        key === undefined ? headers : [...headers, { name: 'authorization', value: key }]
      const result = await transport.send({ ...request, headers: known }, { timeoutMs: 10_000 })
      if (key !== undefined && result.kind === 'answer' && result.status < 300)
        shown.set(connection, key)
      return result
    })
  const { results } = await judgeReference(
    { jobMs: 20 },
    { network, options: { only: [...some, 'chat.create/401-*', 'envelope/*'] } },
  )
  const failed = idsOf(results, 'failed')
  expect(failed.length).toBeGreaterThan(2)
  expect(failed.filter((id) => !id.endsWith('/401-missing-credentials'))).toEqual([])
  expect(toldOf(results, onRememberedKey)).toEqual(failed)
  const [failure] = results.find(({ id }) => id === failed[0])!.failures
  expect(failure?.actual).toMatch(
    / shown on it: answered 200 .*, and on a fresh connection 401 BadCredentials/,
  )
  expect(failure?.exchange?.curl).toContain(' --next ')
})
