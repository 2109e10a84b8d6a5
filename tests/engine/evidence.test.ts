import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createHandlerTransport, type Handler } from '../../harness/http/handler-transport.ts'
import { onReusedConnection } from '../../harness/journal/index.ts'
import { createReference } from '../../reference/server.ts'
import { judgeUrl, transportTo } from '../matrix/judge-reference.ts'
import { error, judgeBehind, json } from './behind.ts'
import { answered, envelope, headerOf, judge, type Way } from './networks.ts'

/** What a failure shows: the request, what was wrong with the answer, what it takes, and how long it took. */

const baseUrl = 'http://target.example'

const judgeHandler = (handle: Handler, ...only: string[]) =>
  judgeUrl(baseUrl, { transport: createHandlerTransport({ handle, baseUrl }), options: { only } })

test.each([404, 401])(
  'what is wrong with the envelope of a %i at an unknown path is in the failure',
  async (status) => {
    const body = { tpe: 'NotFound', errors: [{ description: 'Nothing here' }], extras: null }
    const rows = ['envelope/unknown-path', 'envelope/unsupported-method']
    const { failed, of } = await judgeHandler(() => Response.json(body, { status }), ...rows)
    expect(failed).toEqual(rows)
    for (const id of rows)
      expect(of(id).failures[0]?.actual).toBe(
        `${status} NotFound "Nothing here", but extras must be an object, got null`,
      )
  },
)

/** Gives the refusals of these requirements another name. */
const renaming =
  (ids: readonly string[]): Way =>
  async (_, send, { purpose }) => {
    const result = await send()
    const isMeant = purpose?.role === 'probe' && ids.includes(purpose.requirement ?? '')
    if (!isMeant || result.kind !== 'answer') return result
    return answered(result, result.status, envelope('TooManyRequests'))
  }

test('a 429 with another name, to a request that is to be answered 429, is not counted as throttling', async () => {
  const id = 'chat.create/429-quota-exceeded'
  const { failed, facts } = await judge([id], { way: renaming([id]) })
  expect(failed).toEqual([id])
  expect(facts.throttled).toBe(0)
  const limited = await judgeHandler(() => error(429, 'TooManyRequests'), 'files.list/2xx-accepted')
  expect(limited.facts.throttled).toBeGreaterThan(0)
})

test('a refusal that is granted now and then is reported with the words that the answers differ', async () => {
  const id = 'translate.run/400-empty-text'
  let refused = 0
  const { of } = await judgeBehind(
    async (path, answer) => {
      const response = await answer()
      const isRefused = path.endsWith('/translate') && response.status === 400
      return isRefused && ++refused <= 2 ? json(200, {}) : response
    },
    { only: [id] },
  )
  expect(of(id).failures[0]?.actual).toContain('the answers to one request differ: 2 of 5: 200')
})

const tpes: Record<number, string> = { 401: 'BadCredentials', 403: 'InsufficientAccessRights' }

test.each([
  ['files.upload', '/files', 200],
  ['files.upload', '/files', 400],
  ['files.upload', '/files', 403],
  ['files.upload', '/files', 409],
  ['translate.run', '/translate', 401],
  ['translate.run', '/translate', 415],
  ['translate.run', '/translate', 500],
])(
  'a valid request of %s%s that gets an error with status %i now and then fails, whatever sent it',
  async (operation, end, status) => {
    let granted = 0
    const { failed, of } = await judgeBehind(
      async (path, answer, _, { method }) => {
        const response = await answer()
        const isHit = method === 'POST' && path.endsWith(end) && response.ok && ++granted % 6 === 0
        return isHit ? error(status, tpes[status] ?? 'InternalError') : response
      },
      { only: [`${operation}/*`], skip: ['*/401-*'] },
    )
    const id = `${operation}/2xx-accepted`
    expect(failed).toContain(id)
    const actual = expect.stringContaining('the answers to one request differ') as string
    expect(of(id).failures[0]).toMatchObject({ takes: 'chance', actual })
  },
)

test('a valid value that is refused now and then fails, though it is granted when asked for again', async () => {
  const id = 'graphs.query/2xx-accepted'
  let granted = 0
  const { failed } = await judgeBehind(
    async (path, answer, _, request) => {
      const text = path.endsWith('/query') ? await request.text() : ''
      const response = await answer()
      const isHit = text.includes('"search_weight":100') && response.ok && ++granted === 1
      return isHit ? error(404, 'ResourceNotFound') : response
    },
    { only: ['graphs.query/2*'] },
  )
  expect(failed).toEqual([id])
})

test.each([2, 3])(
  'two instances without shared state that take requests in turn are reported so, seed %i',
  async (seed) => {
    const { results } = await judge(
      ['files.upload/2*', 'graphs.create/2*', 'applications.create/2*'],
      {
        seed,
        network: (first) => {
          const second = transportTo(createReference())
          let sent = 0
          return { ...first, send: (...args) => (sent++ % 2 ? second : first).send(...args) }
        },
      },
    )
    const actual = results.flatMap(({ failures }) => failures.map((failure) => failure.actual))
    // Asked in one round, two failures would meet the same instance each time.
    expect(actual.length).toBeGreaterThan(1)
    expect(actual.join()).toContain('the answers to one request differ: 3 of 5: 404')
    expect(actual.join()).not.toContain(onReusedConnection)
  },
)

test('a creation that is granted when it is asked for again is listed, and asked for no more', async () => {
  const id = 'files.upload/2xx-accepted'
  let uploads = 0
  const { of, report } = await judgeBehind(
    (path, answer) =>
      path.endsWith('/v1/files') && ++uploads === 2 ? error(400, 'BadRequest') : answer(),
    { only: [id] },
  )
  expect(of(id).failures[0]).toMatchObject({ takes: 'earlier-requests' })
  expect(report.run.created).toHaveLength(1)
  expect(uploads).toBe(3)
})

test.each([
  { credentialProbes: 'all', times: 5 },
  { credentialProbes: 'few', times: 2 },
] as const)(
  'a wrong key that is taken is shown $times times, credentialProbes: $credentialProbes',
  async ({ credentialProbes, times }) => {
    const id = 'web-search.run/401-malformed-key'
    const shown: (string | undefined)[] = []
    await judge([id], {
      reference: { defects: [id] },
      limits: { credentialProbes },
      refusalRuns: 1,
      way: (request, send) => (shown.push(headerOf(request, 'authorization')), send()),
    })
    // The last one is the first that was taken: it is asked for again.
    expect(shown.filter((key) => key === shown.at(-1))).toHaveLength(times)
  },
)

test('the time of a requirement is that of its own exchanges, whatever else it waits for', async () => {
  // Virtual time: each exchange takes 20 ms, and eight at once make others wait.
  const only = ['files.list/*', 'envelope/shape']
  const { results, passed, of, facts } = await judge(only, { reference: { latency: 20 } })
  expect(passed.length).toBeGreaterThan(3)
  const took = results.reduce((total, { durationMs }) => total + durationMs, 0)
  expect(took).toBeGreaterThanOrEqual(passed.length * 20)
  expect(took).toBeLessThanOrEqual(facts.requests * 21)
  expect(of('envelope/shape').durationMs).toBe(0)
})

test.each([
  [
    'goes on',
    'not-exercised',
    /^the answer did not end within 1,000 ms: \d+ of 70,040 bytes of the body had arrived, and it went on; increase limits\.timeoutMs/,
  ],
  [
    'stands still',
    'failed',
    /^no answer: the answer did not end within 1,000 ms: 8 of 70,040 bytes of the body had arrived \(limits/,
  ],
] as const)('an answer that %s when its time is over', async (what, outcome, told) => {
  const slow = async (response: Response): Promise<Response> => {
    const text = new Uint8Array(await response.arrayBuffer()).subarray(0, 8)
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(text)
        await sleep(100)
        if (what === 'stands still') await new Promise(() => undefined)
      },
    })
    return new Response(body, { headers: { 'content-length': '70040' } })
  }
  const id = 'translate.run/bad-input-no-5xx'
  const { of } = await judgeBehind(
    async (_path, answer, _ms, request) => {
      const { byteLength } = await request.arrayBuffer()
      return byteLength > 60_000 ? slow(await answer()) : answer()
    },
    { only: [id], refusalRuns: 4 },
  )
  expect(of(id).outcome).toBe(outcome)
  expect(of(id).reason ?? of(id).failures[0]!.actual).toMatch(told)
})

test('a wrong type in every answer is shown by the request alone', async () => {
  const id = 'jobs.create/202-created'
  const { of } = await judgeBehind(
    async (path, answer) => {
      const response = await answer()
      if (!path.endsWith('/jobs') || response.status !== 202) return response
      return json(202, { ...((await response.json()) as object), created_at: 1_760_000_000 })
    },
    { only: ['jobs.create/202-*', 'jobs.create/409-*', 'applications.create/2xx-accepted'] },
  )
  const [failure] = of(id).failures
  expect(failure).toMatchObject({ rerunIds: [id] })
  expect(failure).not.toHaveProperty('takes')
})
