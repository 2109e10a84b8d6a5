import { execFile } from 'node:child_process'
import net from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import type { HttpRequest, Tag } from '../../harness/http/message.ts'
import { defects } from '../../reference/server.ts'
import { ownId } from '../matrix/also-red.ts'
import { judgeUrl } from '../matrix/judge-reference.ts'
import { listen } from '../wire/servers.ts'
import { leavesBodyUnread, refusal } from './body-left-unread.ts'
import { answered, headerOf, isGranted, judge, lost, overConnections, via } from './networks.ts'

test('a body left unread is reported as what it is, with a curl line that shows it', async () => {
  const { url } = await listen(net.createServer(leavesBodyUnread))
  const id = 'jobs.create/401-missing-credentials'
  const { failed, of } = await judgeUrl(url, {
    options: { only: [id, 'files.list/2xx-*'], rerun: 'conform' },
    limits: { concurrency: 1 },
  })
  expect(failed).toEqual([id])
  const [failure] = of(id).failures
  const post = `POST ${url}/v1/applications/\\S+/jobs/?`
  expect(failure?.message).toMatch(
    new RegExp(`^${post}, and then [A-Z]+ ${url}\\S+ on the same connection$`),
  )
  expect(failure?.expected).toMatch(
    /^the second request is answered as on a fresh connection: \d{3}/,
  )
  expect(failure?.actual).toMatch(
    /^wrong only on a reused connection: 501 with a page: Unsupported method \('\{.*\}(?:GET|POST)'\); does the server read the body of the first request completely\?$/,
  )
  const curl = failure?.exchange?.curl ?? ''
  expect(curl).toContain(' --next ')
  const env = { ...process.env, CONFORM_API_KEY: 'key' }
  const { stdout } = await promisify(execFile)('bash', ['-c', curl], { env })
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
    const { failed } = await judge([id, besides[id] ?? 'files.list/2xx-*'], {
      reference: { defects: [`${id}#spoils-connection`] },
      grantedRuns: 20,
      limits: { concurrency: 1 },
    })
    expect(failed).toEqual([id])
  },
)

test('a request that is repeated until its limit shows is not failed for what was left on its connection', async () => {
  let last: Tag | undefined
  let isSpoiled = false
  // The first request of that bucket gets an answer that belongs to the one before it on their connection.
  const network = via(async ({ headers }, send, { options }) => {
    const before = options.fresh ? undefined : last
    last = options.tag
    const result = await send()
    if (isSpoiled || !before || !headers.some(({ value }) => value === 'five')) return result
    isSpoiled = true
    return { ...answered(result, 400, refusal), previousTag: before }
  })
  expect((await judge(['files.list/429-*'], { network })).passed).toContain(
    'files.list/429-quota-exceeded',
  )
})

/** Refuses every third of the valid requests that follow an error on their connection, of those that `isMeant` takes. */
function refusingBehindErrors(isMeant: (request: HttpRequest) => boolean) {
  const met = { behind: 0 }
  const network = overConnections(async ({ exchanges }, request, send) => {
    const before = exchanges.at(-1)?.result
    const result = await send()
    const isBehind = before?.kind === 'answer' && before.status >= 400
    if (!isBehind || !isMeant(request) || !isGranted(result)) return result
    return ++met.behind % 3 === 0 ? answered(result, 400, refusal) : result
  })
  return { network, met }
}

test('a valid request that is refused now and then fails its row, though an invalid one came before it each time', async () => {
  const { network, met } = refusingBehindErrors(({ path }) => path.endsWith('/query'))
  const { failed } = await judge(['graphs.query/*'], { network })
  expect(met.behind).toBeGreaterThan(5)
  expect(failed).toEqual(['graphs.query/2xx-accepted'])
})

test('errors that are right for what they were sent for are counted like others', async () => {
  const { network } = refusingBehindErrors(() => true)
  const { failed } = await judge(['files.*', 'envelope/charset-parameter'], { network })
  expect(failed).toContain('files.retrieve/2xx-accepted')
})

const duplicate = 'graphs.create/400-duplicate-name'

test('a name that exists is answered wrongly behind one request, each time: that request is to blame', async () => {
  const suspect = 'files.list/401-missing-credentials'
  let wrong = 0
  const network = overConnections(async ({ exchanges }, _, send) => {
    const result = await send()
    const before = exchanges.at(-1)?.request
    const isBehind = before?.method === 'GET' && headerOf(before, 'authorization') === undefined
    if (!isBehind || result.kind !== 'answer' || result.status !== 400) return result
    wrong++
    return answered(result, 501, '<html><title>501</title></html>', 'text/html')
  })
  const { failed } = await judge([duplicate, suspect], { network, limits: { concurrency: 1 } })
  expect(wrong).toBeGreaterThan(3)
  expect(failed).toEqual([suspect])
})

test('an answer that is not HTTP behind one request, each time: that request is to blame', async () => {
  const suspect = 'files.list/401-missing-credentials'
  const network = overConnections(async ({ exchanges }, _, send) => {
    const before = exchanges.at(-1)?.request
    const isBehind = before && headerOf(before, 'authorization') === undefined
    return isBehind ? lost({ cause: 'malformed', message: 'what came is not HTTP' }) : send()
  })
  const only = [suspect, 'files.list/2xx-accepted', 'files.list/401-malformed-key']
  const { failed } = await judge(only, { network, limits: { concurrency: 1 } })
  expect(failed).toEqual([suspect])
})

test('a connection that remembers a key accuses only the rows about keys', async () => {
  const { keys } = target
  const isFull = (request: HttpRequest): boolean =>
    headerOf(request, 'authorization') === `Bearer ${keys.full}`
  const network = overConnections(({ exchanges }, request, send) => {
    const known = exchanges.find((one) => isFull(one.request))?.request
    if (!known) return send()
    const isKey = ({ name }: { readonly name: string }): boolean => name === 'authorization'
    const headers = [
      ...request.headers.filter((line) => !isKey(line)),
      ...known.headers.filter(isKey),
    ]
    return send({ ...request, headers })
  })
  const { failed } = await judge(['translate.run/*', 'ai-detect.run/*'], { network })
  expect(failed).toContain('translate.run/401-missing-credentials')
  expect(failed.filter((id) => !/\/(?:401-.*|403-insufficient-rights)$/.test(id))).toEqual([])
})
