import { expect, test } from 'vitest'
import { onReusedConnection } from '../../harness/journal/describe.ts'
import type { RequirementResult } from '../../schemas/report.ts'
import { preloadedIds } from '../../reference/world/preloaded.ts'
import { randomFrom } from '../support/lossy-network.ts'
import {
  answered,
  envelope,
  headerOf,
  isGranted,
  jsonIn,
  judge,
  overConnections,
  type Server,
} from './networks.ts'

const differ = '; the answers to one request differ: '
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

test('a random fault in one of three answers is reported as what it is, with all answers and how often each came', async () => {
  const random = randomFrom(1)
  let count = 0
  const { results, of } = await judgeOver(async (_connection, _request, send) => {
    const result = await send()
    return random.of(`fault ${++count}`) < 1 / 3 ? answered(result, 500, broken) : result
  })
  expect(toldOf(results, onReusedConnection)).toEqual([])
  const told = toldOf(results, differ)
  expect(told.length).toBeGreaterThan(3)
  expect(of(told[0]!).failures.find(({ actual }) => actual.includes(differ))?.actual).toMatch(
    /^500 InternalError; the answers to one request differ: \d+ of \d+: 500 InternalError; \d+ of \d+: /,
  )
})

test('an upload that can be used a little later is waited for, on whatever connection it is asked for', async () => {
  const network = overConnections((_connection, _request, send) => send())
  const { failed } = await judge(some, { reference: { variants: ['settling/uploads'] }, network })
  expect(failed).toEqual([])
})

test('a request that leaves its connection unusable is named, and no request after it', async () => {
  /** Refuses without reading the body, so that it is before the next request. */
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

test.each([false, true])(
  'readings behind what spoils their connection fail nothing; a fault of each ended job shows all the same: %s',
  async (isFaulty) => {
    let spoiled = 0
    const spoils: Server = async ({ exchanges }, request, send) => {
      const last = exchanges.at(-1)?.request
      const result = await send()
      if (request.method !== 'GET' || !/\/jobs\/[^/]+$/.test(request.path) || !isGranted(result))
        return result
      if (last?.method === 'GET' && last.path.startsWith('/v1/files')) {
        spoiled++
        return answered(result, 500, broken)
      }
      const { created_at: _, ...rest } = jsonIn(result)
      const isEnded = rest['status'] === 'completed' && !request.path.endsWith(preloadedIds.job)
      return isFaulty && isEnded ? answered(result, 200, JSON.stringify(rest)) : result
    }
    const only = ['files.list/*', 'files.retrieve/*', 'jobs.retrieve/200-job']
    const { results, of } = await judge(only, {
      reference: { jobMs: 200 },
      network: overConnections(spoils),
    })
    const own = of('jobs.retrieve/200-job').failures.map(({ actual }) => actual)
    expect(own).toEqual(isFaulty ? ['200, but created_at is missing'] : [])
    expect(toldOf(results, onReusedConnection)).not.toEqual([])
    expect(spoiled).toBeGreaterThan(0)
  },
)

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
