import { expect, test } from 'vitest'
import { createHandlerTransport, type Handler } from '../../harness/http/handler-transport.ts'
import type { Transport } from '../../harness/http/message.ts'
import { createReference } from '../../reference/server.ts'
import { judgeReference, judgeUrl, transportTo } from '../matrix/judge-reference.ts'
import { judgeBehind, json } from './behind.ts'

const baseUrl = 'http://target.example'

const judge = (handle: Handler, ...only: string[]) =>
  judgeUrl(baseUrl, { transport: createHandlerTransport({ handle, baseUrl }), options: { only } })

test.each([404, 401])(
  'what is wrong with the envelope of a %i at an unknown path stands in the failure',
  async (status) => {
    const body = { tpe: 'NotFound', errors: [{ description: 'Nothing here' }], extras: null }
    const rows = ['envelope/unknown-path', 'envelope/unsupported-method']
    const { results } = await judge(() => Response.json(body, { status }), ...rows)
    const failed = results.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ id }) => id)).toEqual(rows)
    for (const { failures } of failed) {
      expect(failures[0]?.actual).toBe(
        `${status} NotFound "Nothing here", but extras must be an object, got null`,
      )
    }
  },
)

test('a 429 with another name, to a request that is to be answered 429, is not counted as throttling', async () => {
  const asked = 'chat.create/429-quota-exceeded'
  const { results, facts } = await judgeReference(
    { defects: [`${asked}#tpe`] },
    { options: { only: [asked] } },
  )
  expect(results.find(({ id }) => id === asked)?.outcome).toBe('failed')
  expect(facts.throttled).toBe(0)
  const busy = Response.json({ tpe: 'TooManyRequests', errors: [], extras: {} }, { status: 429 })
  const limited = await judge(() => busy.clone(), 'files.list/2xx-accepted')
  expect(limited.facts.throttled).toBeGreaterThan(0)
})

test('a failure has the request that was granted, and the place in the response that is wrong', async () => {
  const ids = [
    'translate.run/400-empty-text',
    'translate.run/401-missing-credentials',
    'vision.analyze/403-model-access',
  ]
  const { results } = await judgeReference(
    { defects: ids.map((id) => `${id}#tpe` as const) },
    { options: { only: ids } },
  )
  for (const id of ids) {
    const [failure] = results.find((result) => result.id === id)!.failures
    const { asked, at, control, exchange, expected } = failure!
    // The words of the row's pairs, by which reports tell what differs.
    expect(asked!.length, id).toBeGreaterThan(1)
    expect(
      asked!.filter((word) => !expected.includes(word)),
      id,
    ).toEqual([])
    expect({ at, status: control?.status, url: control?.request.url }, id).toEqual({
      at: '/tpe',
      status: 200,
      url: exchange?.request.url,
    })
    expect(JSON.stringify(control?.request), id).not.toBe(JSON.stringify(exchange?.request))
  }
  const [noEnvelope] = (
    await judge(() => Response.json({ tpe: 1 }, { status: 404 }), 'envelope/shape')
  ).results.flatMap(({ failures }) => failures)
  expect(noEnvelope).toMatchObject({ at: expect.stringMatching(/^\/(tpe|errors|extras)$/) })
  expect(noEnvelope).not.toHaveProperty('control')
})

test('a refusal that is granted now and then is told with the words that the answers differ', async () => {
  let refused = 0
  const { report } = await judgeBehind(
    async (path, answer) => {
      const response = await answer()
      return path.endsWith('/translate') && response.status === 400 && ++refused <= 2
        ? json(200, {})
        : response
    },
    { only: ['translate.run/400-empty-text'] },
  )
  const failed = report.requirements.find(({ id }) => id === 'translate.run/400-empty-text')
  expect(failed?.failures[0]?.actual).toContain('the answers to one request differ: 2 of 5: 200')
})

test.each([2, 3])(
  'two instances without shared state that take requests in turn are told so, seed %i',
  async (seed) => {
    const only = ['files.upload/2*', 'graphs.create/2*', 'graphs.add-file/2*']
    const network = (first: Transport): Transport => {
      const second = transportTo(createReference())
      let sent = 0
      const send: Transport['send'] = (...args) => (sent++ % 2 ? second : first).send(...args)
      return { ...first, send }
    }
    const { results } = await judgeReference({}, { network, options: { only, seed } })
    const failures = results.flatMap(({ failures }) => failures)
    // Asked in one round, two failures would meet the same instance each time.
    expect(failures.length).toBeGreaterThan(1)
    expect(failures.map(({ actual }) => actual).join()).toContain(
      'the answers to one request differ: 3 of 5: 404',
    )
  },
)

test('a creation that is granted when it is asked for again is listed, and asked for no more', async () => {
  let uploads = 0
  const { report } = await judgeBehind(
    (path, answer) =>
      path.endsWith('/v1/files') && ++uploads === 2
        ? json(400, { tpe: 'BadRequest', errors: [], extras: {} })
        : answer(),
    { only: ['files.upload/2xx-accepted'] },
  )
  const failed = report.requirements.find(({ id }) => id === 'files.upload/2xx-accepted')
  expect(failed?.failures[0]).toMatchObject({ takes: 'earlier-requests' })
  expect(report.run.created).toHaveLength(1)
  expect(uploads).toBe(3)
})

test.each([
  { credentialProbes: 'all', times: 5 },
  { credentialProbes: 'few', times: 2 },
] as const)(
  'a wrong key that is taken is shown $times times, credentialProbes: $credentialProbes',
  async (limits) => {
    const id = 'web-search.run/401-malformed-key'
    const shown: string[] = []
    await judgeReference(
      { defects: [id] },
      {
        limits: { credentialProbes: limits.credentialProbes },
        options: { only: [id], refusalRuns: 1 },
        network: (transport) => ({
          ...transport,
          send(request, options) {
            shown.push(
              request.headers.find(({ name }) => name.toLowerCase() === 'authorization')?.value ??
                '',
            )
            return transport.send(request, options)
          },
        }),
      },
    )
    // The last one is the first that was taken: it is asked for again.
    expect(shown.filter((key) => key === shown.at(-1))).toHaveLength(limits.times)
  },
)
