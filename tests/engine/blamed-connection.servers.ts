import { expect, test } from 'vitest'
import { createReference } from '../../reference/server.ts'
import { onRememberedKey, onReusedConnection } from '../../harness/engine/describe.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import { judgeUrl, transportTo } from '../matrix/judge-reference.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import { answered, type Connection, envelope, headerOf, isGranted, judge } from './networks.ts'
import { overConnections, type Server } from './networks.ts'

const differ = '; the answers to one request differ: '
const seeds = [1, 2, 3]

/** Numbers from 0 to 1 that are drawn from a seed. */
function drawnFrom(seed: number): () => number {
  let state = seed
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647
}

/** Ids that failed because of a connection, or whose answers differ. */
function toldOf(results: readonly RequirementResult[], words: string): string[] {
  return results
    .filter(({ failures }) => failures.some(({ actual }) => actual.includes(words)))
    .map(({ id }) => id)
}

const broken = envelope('InternalError')
const some = ['files.*', 'graphs.query/*', 'pdf.parse/2*', 'pdf.parse/404-*', 'translate.run/*']
const reference = { jobMs: 20 }
const judgeOver = (server: Server, more: readonly string[] = []) =>
  judge([...some, ...more], { reference, network: overConnections(server) })

test.each([0, ...seeds])(
  'replicas without shared state, connections taken in turn (0) or at random, %d: no connection is blamed',
  async (seed) => {
    const drawn = drawnFrom(seed)
    const taken = new Map<Connection, number>()
    const replicaOf = (connection: Connection): number => {
      if (seed === 0) return connection.number % 2
      if (!taken.has(connection)) taken.set(connection, Math.floor(drawn() * 2))
      return taken.get(connection)!
    }
    const { results } = await inVirtualTime(async () => {
      const replicas = [0, 1].map(() => createReference(reference))
      const networks = replicas.map((replica) => transportTo(replica))
      const server: Server = (connection, request) =>
        networks[replicaOf(connection)]!.send(request, { timeoutMs: 10_000 })
      const transport = overConnections(server)(networks[0]!)
      return judgeUrl(replicas[0]!.url, { transport, options: { only: some } })
    })
    expect(toldOf(results, onReusedConnection)).toEqual([])
  },
)

test.each([0, ...seeds])(
  'a fault in every third answer (0), or one in three at random, %d, is told as what it is, with all answers and how often each came',
  async (seed) => {
    const drawn = drawnFrom(seed)
    let count = 0
    const isFault = () => (seed === 0 ? ++count % 3 === 0 : drawn() < 1 / 3)
    const { results, of } = await judgeOver(async (_connection, _request, send) => {
      const result = await send()
      return isFault() ? answered(result, 500, broken) : result
    })
    expect(toldOf(results, onReusedConnection)).toEqual([])
    const told = toldOf(results, differ)
    expect(told.length).toBeGreaterThan(3)
    expect(of(told[0]!).failures.find(({ actual }) => actual.includes(differ))?.actual).toMatch(
      /^500 InternalError; the answers to one request differ: \d+ of \d+: 500 InternalError; \d+ of \d+: /,
    )
  },
)

test('an upload that can be used a little later is waited for, on whatever connection it is asked for', async () => {
  const network = overConnections((_connection, _request, send) => send())
  const { failed } = await judge(some, { reference: { variants: ['settling/uploads'] }, network })
  expect(failed).toEqual([])
})

test('a request that leaves its connection unusable is named, and no request after it', async () => {
  /** Refuses without reading the body, so that it stands before the next request. */
  const leavesUnread: Server = async ({ exchanges }, _request, send) => {
    const last = exchanges.at(-1)?.request
    const isUnread = last?.body !== undefined && headerOf(last, 'authorization') === undefined
    const result = await send()
    return isUnread ? answered(result, 501, '<html>Unsupported method', 'text/html') : result
  }
  const { results, failed } = await judgeOver(leavesUnread, ['envelope/*'])
  expect(failed.length).toBeGreaterThan(2)
  expect(failed.filter((id) => !id.endsWith('/401-missing-credentials'))).toEqual([])
  expect(toldOf(results, onReusedConnection)).toEqual(failed)
  expect(toldOf(results, differ)).toEqual([])
})

test('what leaves its connection unusable after it was granted is named too', async () => {
  const spoils: Server = async ({ exchanges }, _request, send) => {
    const last = exchanges.at(-1)
    const isUpload = last?.request.method === 'POST' && last.request.path === '/v1/files'
    const result = await send()
    return isUpload && isGranted(last.result) ? answered(result, 400, broken) : result
  }
  const { results } = await judgeOver(spoils, ['graphs.add-file/*'])
  const told = toldOf(results, onReusedConnection)
  expect(told.filter((id) => !id.startsWith('files.upload/'))).toEqual([])
  expect(told).toContain('files.upload/2xx-accepted')
})

test('a connection that remembers the key is found by the rows of credentials, and named', async () => {
  const shown = new WeakMap<Connection, string>()
  const remembers: Server = async (connection, request, send) => {
    const key = headerOf(request, 'authorization') ?? shown.get(connection)
    const others = request.headers.filter(({ name }) => name.toLowerCase() !== 'authorization')
    const headers = key === undefined ? others : [...others, { name: 'authorization', value: key }]
    const result = await send({ ...request, headers })
    if (key !== undefined && isGranted(result)) shown.set(connection, key)
    return result
  }
  const { results, failed, of } = await judgeOver(remembers, ['chat.create/401-*', 'envelope/*'])
  expect(failed.length).toBeGreaterThan(2)
  expect(failed.filter((id) => !id.endsWith('/401-missing-credentials'))).toEqual([])
  expect(toldOf(results, onRememberedKey)).toEqual(failed)
  const [failure] = of(failed[0]!).failures
  expect(failure?.actual).toMatch(
    / shown on it: answered 200 .*, and on a fresh connection 401 BadCredentials/,
  )
  expect(failure?.exchange?.curl).toContain(' --next ')
})
