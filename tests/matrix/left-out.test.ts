import { describe, expect, test } from 'vitest'
import type { Exchange } from '../../harness/engine/exchange.ts'
import type { TargetFile } from '../../harness/target-file/model.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import {
  idsOf,
  judgeReference,
  reasons,
  type Judged,
  type JudgeSettings,
} from './judge-reference.ts'

/** Jobs of the slow application last long enough for the requests beside them. */
const pace = { jobMs: 15, slowJobMs: 1000 }

/** Why a requirement is left out does not depend on how many cases it has. */
const quick = { depth: 'quick' } as const

const ids: readonly string[] = catalogue.map(({ id }) => id)

/** Judges the reference, and keeps what was sent. */
async function watched(settings: JudgeSettings): Promise<Judged & { sent: Exchange[] }> {
  const sent: Exchange[] = []
  const prepare: JudgeSettings['prepare'] = (run) =>
    run.client.observers.push((exchange) => sent.push(exchange))
  return Object.assign(await judgeReference(pace, { ...settings, prepare }), { sent })
}

describe('what a run leaves out is not exercised, and nothing fails', () => {
  test('one request at a time: no two creations are concurrent', async () => {
    const { results, verdicts } = await judgeReference(pace, {
      options: quick,
      limits: { concurrency: 1 },
    })
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
    expect(
      idsOf(results, 'not-exercised').every((id) => /(?:-atomic|2xx-own-id)$/.test(id)),
      reasons(results),
    ).toBe(true)
    expect(verdicts.exact).toBe('passing')
  })

  test('only reading: nothing is created or generated, and refusals stand without a control', async () => {
    const { results, verdicts, facts, sent } = await watched({
      options: { ...quick, readOnly: true },
    })
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
    expect(verdicts.exact).toBe('passing')
    expect(facts.created).toEqual([])
    expect(sent.filter(({ probe }) => probe.effect !== 'none')).toEqual([])
    const granted = sent.filter(({ response }) => response !== undefined && response.status < 300)
    const harmless = ['pdf.parse', 'ai-detect.run', 'web-search.run', 'medical.comprehend']
    expect(
      granted.filter(
        ({ probe }) => probe.method === 'POST' && !harmless.includes(probe.operation ?? ''),
      ),
    ).toEqual([])
    const left = results.filter(({ outcome }) => outcome === 'not-exercised')
    expect(new Set(left.map(({ reason }) => reason))).toEqual(new Set(['left out: --read-only']))
    expect(idsOf(results, 'passed')).toContain('jobs.retrieve/200-job')
    expect(results.find(({ id }) => id === 'jobs.create/400-missing-inputs')).toMatchObject({
      outcome: 'passed',
      control: 'none',
    })
  })

  test('only reading, by a key without other rights: what it may not ask for is judged by nothing', async () => {
    const change = (file: TargetFile): TargetFile => ({
      ...file,
      keys: { full: file.keys?.restricted as string },
    })
    const { results } = await judgeReference(pace, {
      options: { ...quick, readOnly: true },
      change,
    })
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
  })

  test.each([0, 3])(
    'an account that is full after %i uploads: only a server that takes none is blamed',
    async (room) => {
      let [own, full, left] = ['', '', room]
      const change = (file: TargetFile): TargetFile => {
        own = `Bearer ${file.keys?.full as string}`
        full = `Bearer ${file.scenarios?.['files.upload/507-storage-full']?.key as string}`
        return file
      }
      const network: JudgeSettings['network'] = (transport) => ({
        ...transport,
        send: (request, options) => {
          const isUpload = request.method === 'POST' && request.path.startsWith('/v1/files')
          const key = request.headers.find(({ name }) => name.toLowerCase() === 'authorization')
          if (!isUpload || key?.value !== own || left-- > 0) return transport.send(request, options)
          const headers = request.headers.map((one) =>
            one === key ? { ...one, value: full } : one,
          )
          return transport.send({ ...request, headers }, options)
        },
      })
      const { results } = await judgeReference(pace, { options: quick, change, network })
      expect(idsOf(results, 'failed'), reasons(results)).toEqual(
        room === 0 ? ['files.upload/2xx-accepted'] : [],
      )
    },
  )

  test('jobs that nobody can read: no creation is blamed', async () => {
    const change = (file: TargetFile): TargetFile => ({
      ...file,
      operations: { ...file.operations, 'jobs.retrieve': 'not-served' },
    })
    const network: JudgeSettings['network'] = (transport) => ({
      ...transport,
      send: (request, options) =>
        transport.send(
          { ...request, path: request.path.replace('/applications/jobs/', '/nothing/') },
          options,
        ),
    })
    const { results } = await judgeReference(pace, { options: quick, change, network })
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
  })

  test('jobs that nobody can create: what only a creation shows does not apply', async () => {
    const change = ({
      operations,
      resources: { application: _own, ...resources } = {},
      ...file
    }: TargetFile) => ({
      ...file,
      resources,
      operations: { ...operations, 'jobs.create': 'not-served' as const },
      scenarios: {},
    })
    const { results } = await judgeReference(pace, {
      options: { ...quick, only: ['jobs.retrieve/200-*'] },
      change,
    })
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
    const created = ['identity', 'created-at', 'outcome'].map((name) => `jobs.retrieve/200-${name}`)
    expect(idsOf(results, 'not-applicable')).toEqual(expect.arrayContaining(created))
    expect(idsOf(results, 'passed')).toContain('jobs.retrieve/200-job')
  })

  test.each([
    { type: 'text' },
    { minimum: '5' },
    { properties: 5 },
    { $ref: '#/none' },
    { pattern: '(' },
  ])('a declared schema that is none, %j, judges no content', async (schema) => {
    const id = 'chat.create/200-structured-output'
    const format = { type: 'json_schema', json_schema: { name: 'none', schema, strict: true } }
    const change = ({
      scenarios: { [id]: _own, ...scenarios } = {},
      operations,
      ...file
    }: TargetFile): TargetFile => {
      const chat = operations?.['chat.create'] as { readonly body: object }
      return {
        ...file,
        scenarios,
        operations: {
          ...operations,
          'chat.create': { ...chat, body: { ...chat.body, response_format: format } },
        },
      }
    }
    const { results } = await judgeReference(pace, { change, options: { ...quick, only: [id] } })
    expect(results.find((result) => result.id === id)).toMatchObject({
      outcome: 'not-exercised',
      reason: expect.stringContaining('the declared schema cannot be compiled: '),
    })
  })

  test('no key: only what needs none is sent, and nothing is judged by it', async () => {
    const { results, verdicts, sent } = await watched({
      options: quick,
      change: ({ keys: _keys, ...file }) => file,
    })
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
    expect(idsOf(results, 'passed')).toEqual([])
    expect(results.filter(({ reason }) => reason?.startsWith('no key'))).toHaveLength(
      ids.length - 1,
    )
    expect(verdicts).toEqual({ exact: 'not-judged', family: 'not-judged' })
    const asked = new Set(sent.map(({ purpose }) => purpose.requirement?.replace(/^.*\//, '')))
    expect(asked).toEqual(
      new Set([
        undefined,
        '401-missing-credentials',
        '401-malformed-key',
        'unknown-path',
        'unsupported-method',
      ]),
    )
  })

  test.each([false, true])('what a setup saves is declared: readOnly %s', async (readOnly) => {
    let made = ''
    const setup = [{ method: 'POST', url: '/v1/made', save: { made: '/id' } }] as const
    const change = (file: TargetFile): TargetFile => {
      const application = file.resources!.application!
      made = application.id
      const resources = { ...file.resources, application: { ...application, id: '{made}' } }
      return { ...file, setup: [...setup], resources }
    }
    const instead: JudgeSettings['instead'] = (reference) => (request) =>
      new URL(request.url).pathname === '/v1/made'
        ? Response.json({ id: made })
        : reference(request)
    const options = { ...quick, readOnly, only: ['jobs.*'] }
    const { results } = await judgeReference(pace, { options, change, instead })
    const reasonOf = (id: string) => results.find((result) => result.id === id)?.reason
    const told = new Set(
      results.filter(({ operation }) => operation === 'jobs.create').map(({ reason }) => reason),
    )
    if (readOnly) expect(told).toEqual(new Set([undefined, 'left out: --read-only']))
    // A scenario changes the request for that application: it has none either.
    const ofScenario = reasonOf('jobs.create/429-quota-exceeded')
    expect(ofScenario).toBe(readOnly ? 'left out: --read-only' : undefined)
    expect(reasons(results)).not.toContain('declare resources.application')
  })

  test('a key that is not accepted: nothing is judged by it', async () => {
    const { results, verdicts, facts } = await judgeReference(pace, {
      options: quick,
      change: (file) => ({
        ...file,
        keys: { full: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.AAAAAAAAAAAA' },
      }),
    })
    expect(facts.keyRefused).toBe(true)
    expect(facts.created).toEqual([])
    expect(verdicts).toEqual({ exact: 'not-judged', family: 'not-judged' })
    expect(idsOf(results, 'passed').filter((id) => id.includes('/4') || id.includes('/5'))).toEqual(
      [],
    )
  })

  test('a key and one application: all that they can show, and the rest says what to declare', async () => {
    const { results, verdicts } = await judgeReference(
      { jobMs: 600 },
      { options: quick, change: onlyApplication },
    )
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
    expect(idsOf(results, 'passed')).toEqual(ids.filter(isShownByApplication))
    const left = results.filter(({ outcome }) => outcome === 'not-exercised')
    expect(left.filter(({ reason }) => !reason?.startsWith('declare '))).toEqual([])
    expect(verdicts.exact).toBe('passing')
  })
})

test('jobs that end at once: the reason says how long they took, and what to declare', async () => {
  const options = { only: ['jobs.create/409-job-in-progress'] }
  const { results } = await judgeReference(
    { variants: ['jobs/instant'] },
    { change: onlyApplication, options },
  )
  const { outcome, reason } = results.find(({ id }) => id === 'jobs.create/409-job-in-progress')!
  expect(outcome).toBe('not-exercised')
  expect(reason).toMatch(
    /application [\da-f-]{36}: its longest job was read as ended after \d+ ms: declare as resources\.slowApplication one /,
  )
})

function onlyApplication({ keys, resources }: TargetFile): TargetFile {
  const { id, inputs } = resources?.application ?? { id: '', inputs: [] }
  return {
    keys: { ...(keys?.full === undefined ? {} : { full: keys.full }) },
    resources: { application: { id, inputs } },
  }
}

/** Rows of `jobs.*` that need more than one application. */
const needMore = [
  ...[
    '400-missing-required-inputs',
    '403-application-access',
    '409-per-application',
    '429-quota-exceeded',
  ],
  ...['500-internal-error', '401-expired-key', '403-insufficient-rights', '200-failed'],
  ...['202-required-inputs-only', '4xx-foreign-job'],
]

/** Faults of a key can be shown anywhere, files be listed, and everything of jobs be seen that needs no second application. */
function isShownByApplication(id: string): boolean {
  const [operation, row] = id.split('/') as [string, string]
  if (/^401-(missing-credentials|malformed-key|invalid-key)$/.test(row) || operation === 'envelope')
    // It needs a request that an operation with a JSON body grants, and that generates nothing.
    return row !== 'charset-parameter'
  // What is filtered out shows by an upload.
  if (operation === 'files.list') return row.startsWith('2xx-') && row !== '2xx-filtered'
  return operation.startsWith('jobs.') && !needMore.includes(row)
}
