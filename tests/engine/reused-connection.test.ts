import { execFile } from 'node:child_process'
import net from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { listen } from '../wire/servers.ts'
import { answered, headerOf, overConnections } from './connections.ts'
import { leavesBodyUnread, refusal } from './body-left-unread.ts'
import type { Tag, Transport } from '../../harness/http/message.ts'
import { defects } from '../../reference/server.ts'
import { ownId } from '../matrix/also-red.ts'
import { idsOf, judgeReference, judgeUrl } from '../matrix/judge-reference.ts'

const run = promisify(execFile)

test('a body left unread is told as what it is, with a curl line that shows it', async () => {
  const { url } = await listen(net.createServer(leavesBodyUnread))
  const { results } = await judgeUrl(url, {
    options: {
      only: ['jobs.create/401-missing-credentials', 'files.list/2xx-*'],
      rerun: 'conform',
    },
    limits: { concurrency: 1 },
  })
  expect(idsOf(results, 'failed')).toEqual(['jobs.create/401-missing-credentials'])
  const [failure, before] = results.find(({ outcome }) => outcome === 'failed')!.failures
  const post = `POST ${url}/v1/applications/\\S+/jobs/?`
  expect(failure?.message).toMatch(
    new RegExp(`^${post}, and then [A-Z]+ ${url}\\S+ on the same connection$`),
  )
  expect(failure?.expected).toMatch(
    /^the second request is answered as on a fresh connection: \d{3}/,
  )
  expect(failure?.actual).toMatch(
    /^wrong only on a reused connection: the first request was answered (?:401 BadCredentials|correctly \(401 BadCredentials\)), and the second with 501 with a page: Unsupported method \('\{.*\}(?:GET|POST)'\); the body of the request before was probably left unread: read it before answering, or close the connection$/,
  )
  expect(before?.message).toMatch(
    new RegExp(`^${post}, which is the first of two requests on one connection$`),
  )
  const curl = failure?.exchange?.curl ?? ''
  expect(curl).toContain(' --next ')
  const { stdout } = await run('bash', ['-c', curl], {
    env: { ...process.env, CONFORM_API_KEY: 'key' },
  })
  expect(stdout).toMatch(/401 Status[\s\S]*Unsupported method/)
})

/** Request that is sent in turns with those of the row, and shows what they left on their connection. */
const besides: Readonly<Record<string, string>> = {
  'jobs.create/400-malformed-json': 'jobs.create/401-*',
  'files.upload/413-body-too-large': 'files.upload/401-malformed-key',
}

// One request at a time, all on one connection: which of them comes next is no matter of how busy the machine is.
test.each(defects.filter((defect) => defect.endsWith('#spoils-connection')).map(ownId))(
  '%s#spoils-connection turns its requirement red, and no other',
  async (id) => {
    const only = [id, besides[id] ?? 'files.list/2xx-*']
    const { results } = await judgeReference(
      { defects: [`${id}#spoils-connection`] },
      { options: { only, grantedRuns: 20 }, limits: { concurrency: 1 } },
    )
    expect(idsOf(results, 'failed')).toEqual([id])
  },
)

/** The first request of that bucket gets an answer that belongs to the one before it on their connection. */
function spoilsOnce(transport: Transport, bucket: string): Transport {
  let last: Tag | undefined
  let isSpoiled = false
  return {
    ...transport,
    async send(request, options) {
      const before = options.fresh ? undefined : last
      last = options.tag
      const result = await transport.send(request, options)
      const isOfBucket = request.headers.some(({ value }) => value === bucket)
      if (isSpoiled || !isOfBucket || !before || result.kind !== 'answer') return result
      isSpoiled = true
      return { ...result, status: 400, body: Buffer.from(refusal), previousTag: before }
    },
  }
}

test('a request that is repeated until its limit shows is not failed for what was left on its connection', async () => {
  const network = (transport: Transport): Transport => spoilsOnce(transport, 'five')
  const { results } = await judgeReference({}, { network, options: { only: ['files.list/429-*'] } })
  const passed = idsOf(results, 'passed')
  expect(passed).toContain('files.list/429-quota-exceeded')
})

test('a graph of a name that exists is granted once, on a connection of others: that is the fault of no connection', async () => {
  const id = 'graphs.create/400-duplicate-name'
  const asked = new Set<string>()
  const network = (transport: Transport): Transport =>
    overConnections(transport, async ({ exchanges }, request, send) => {
      const result = await send()
      const isRefused = result.kind === 'answer' && result.status === 400
      const name = String(request.body)
      if (!isRefused || exchanges.length === 0 || asked.has(name)) return result
      asked.add(name)
      return answered(result, 201, '{"id":"another-graph"}')
    })
  const options = { only: [id, 'files.list/2xx-accepted'], backoffMs: 2 }
  const { results } = await judgeReference({}, { network, options })
  expect(idsOf(results, 'failed')).toEqual([id])
})

test('a name that exists is answered wrongly behind one request, each time: that request is to blame', async () => {
  const id = 'graphs.create/400-duplicate-name'
  const suspect = 'files.list/401-missing-credentials'
  let wrong = 0
  const network = (transport: Transport): Transport =>
    overConnections(transport, async ({ exchanges }, _, send) => {
      const result = await send()
      const before = exchanges.at(-1)?.request
      const isBehind = before?.method === 'GET' && headerOf(before, 'authorization') === undefined
      if (!isBehind || result.kind !== 'answer' || result.status !== 400) return result
      wrong++
      return answered(result, 501, '<html><title>501</title></html>', 'text/html')
    })
  const options = { only: [id, suspect], backoffMs: 2 }
  const limits = { concurrency: 1 }
  const { results } = await judgeReference({}, { network, options, limits })
  expect(wrong).toBeGreaterThan(4)
  expect(idsOf(results, 'failed')).toEqual([suspect])
})
