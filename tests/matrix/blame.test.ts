import { describe, expect, test } from 'vitest'
import type { Handler } from '../../harness/http/handler-transport.ts'
import { evidenceText } from '../../reporters/view/evidence.ts'
import { idsOf, type JudgeSettings, judgeReference, reasons } from './judge-reference.ts'

/** Servers with one fault that shows beside others: it is told where it belongs, and nowhere else. */

type Asked = Parameters<Handler>[0]

const pathOf = ({ url }: Asked): string => new URL(url).pathname

function envelope(status: number, tpe: string): Response {
  const body = { tpe, errors: [{ description: 'No', key: 'fail.other', extras: {} }], extras: {} }
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json' },
  })
}

/** Every so manieth request to that path which would be granted is answered otherwise. */
function failsEvery(nth: number, path: string, otherwise: () => Response) {
  let granted = 0
  return (reference: Handler): Handler =>
    async (request) => {
      const response = await reference(request)
      const isSuch = pathOf(request) === path && request.method === 'POST' && response.ok
      return isSuch && ++granted % nth === 0 ? otherwise() : response
    }
}

const breaks = (): Response => envelope(500, 'InternalError')
const refuses = (): Response => envelope(400, 'BadRequest')

/** Grants a body that it should refuse, if its member is such a one. */
function takes(path: string, isSuch: (body: Record<string, unknown>) => boolean, body: unknown) {
  return (reference: Handler): Handler =>
    async (request) => {
      const response = await reference(request)
      if (pathOf(request) !== path || response.status !== 400) return response
      const sent: unknown = await request.json().catch(() => undefined)
      const isObject = typeof sent === 'object' && sent !== null
      return isObject && isSuch(sent as Record<string, unknown>) ? Response.json(body) : response
    }
}

/** Whatever the run makes by that path is gone after that time, for each request that names it. */
function vanishes(made: RegExp, afterMs: number) {
  const since = new Map<string, number>()
  return (reference: Handler): Handler =>
    async (request) => {
      const named = `${request.url} ${await request.text()}`
      const isGone = [...since].some(
        ([id, at]) => named.includes(id) && performance.now() - at > afterMs,
      )
      if (isGone) return envelope(404, 'ResourceNotFound')
      const response = await reference(request)
      if (request.method === 'POST' && made.test(pathOf(request)) && response.ok)
        since.set(((await response.clone().json()) as { id: string }).id, performance.now())
      return response
    }
}

/** A deleted file can be added to any graph, for good: a second time it is there already, also in the next run. */
function addsDeleted(files: Set<string>) {
  return (reference: Handler): Handler =>
    async (request) => {
      const path = pathOf(request)
      const response = await reference(request)
      const text = await request.text()
      if (!path.endsWith('/files') || !text.includes(deletedFile) || response.status !== 404)
        return response
      const file = `${path} ${text}`
      if (files.has(file)) return envelope(409, 'BadRequest')
      files.add(file)
      return Response.json({ id: deletedFile })
    }
}

const deletedFile = '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93002'

const graphs = ['files.*', 'graphs.*'] as const

interface Server {
  readonly instead: () => NonNullable<JudgeSettings['instead']>
  readonly only: readonly string[]
  readonly failed: readonly string[]
}

const servers: Readonly<Record<string, Server>> = {
  'every second valid request breaks, of an operation that generates nothing': {
    instead: () => failsEvery(2, '/v1/tools/ai-detect', breaks),
    only: ['ai-detect.run/*', 'envelope/bad-input-no-5xx'],
    failed: ['ai-detect.run/2xx-accepted'],
  },
  'every third valid creation breaks': {
    instead: () => failsEvery(3, '/v1/knowledge-graphs', breaks),
    only: ['graphs.create/*', 'envelope/bad-input-no-5xx', 'envelope/charset-parameter'],
    failed: ['graphs.create/2xx-accepted'],
  },
  'every second valid creation is refused': {
    instead: () => failsEvery(2, '/v1/knowledge-graphs', refuses),
    only: ['graphs.create/*', 'envelope/charset-parameter'],
    failed: ['graphs.create/2xx-accepted'],
  },
  'every second valid creation is refused, asked for by what compares two of them': {
    instead: () => failsEvery(2, '/v1/knowledge-graphs', refuses),
    only: ['graphs.create/4xx-no-effect'],
    failed: [],
  },
  'every second valid request is refused, asked for by what compares two of them': {
    instead: () => failsEvery(2, '/v1/tools/ai-detect', refuses),
    only: ['envelope/charset-parameter'],
    failed: [],
  },
  'no application ever takes a job, not even one that was just made': {
    instead: () => (reference) => async (request) => {
      const response = await reference(request)
      return response.status === 202 ? envelope(409, 'BadRequest') : response
    },
    only: ['jobs.create/202-created', 'applications.create/2xx-usable'],
    failed: ['jobs.create/202-created'],
  },
  'an unknown file is answered as a limit is': {
    instead: () => (reference) => async (request) => {
      const response = await reference(request)
      return response.status === 404 ? envelope(429, 'QuotaExceeded') : response
    },
    only: ['vision.analyze/4xx-unknown-file', 'vision.analyze/bad-input-no-5xx'],
    failed: ['vision.analyze/4xx-unknown-file'],
  },
  'uploads are gone after a while': {
    instead: () => vanishes(/^\/v1\/files$/, 2500),
    only: graphs,
    failed: ['files.upload/2xx-retrievable'],
  },
  'an upload of known bytes is a duplicate, whatever else is wrong with it': {
    instead: () => {
      const known = new Map<string, string | null>()
      return (reference) => async (request) => {
        const isUpload = pathOf(request) === '/v1/files' && request.method === 'POST'
        const key = request.headers.get('authorization')
        const isKnown = isUpload && known.get(await request.text()) === key
        if (isKnown && !request.headers.has('x-simulate')) return envelope(409, 'Conflict')
        const response = await reference(request)
        if (isUpload && response.ok) known.set(await request.text(), key)
        return response
      }
    },
    only: graphs,
    failed: [],
  },
}

const completion = { choices: [{ message: { content: 'Tea' } }] }

const slips: Readonly<Record<string, Server>> = {
  'false in place of a number is taken for absent': {
    instead: () => takes('/v1/completion', ({ temperature }) => temperature === false, {}),
    only: ['completion.create/400-*'],
    failed: ['completion.create/400-invalid-temperature'],
  },
  '0 in place of a text is taken for absent': {
    instead: () => takes('/v1/chat/completions', ({ model }) => model === 0, completion),
    only: ['chat.create/400-*'],
    failed: ['chat.create/400-unsupported-model'],
  },
  'true is taken for a choice of tools': {
    instead: () => takes('/v1/chat/completions', ({ tool_choice: is }) => is === true, completion),
    only: ['chat.create/400-*'],
    failed: ['chat.create/400-malformed-tool-choice'],
  },
  'booleans and texts are made numbers, and 0 is out of range': {
    instead: () => (reference) => async (request) => {
      const response = await takes(
        '/v1/completion',
        ({ max_tokens: most }) => most === true || most === '1',
        {},
      )(reference)(request)
      const sent = (await request.json().catch(() => null)) as { max_tokens?: unknown } | null
      const isZero = response.status === 400 && sent?.max_tokens === false
      return isZero ? envelope(400, 'InvalidInputParameters') : response
    },
    only: ['completion.create/400-invalid-max-tokens'],
    failed: [],
  },
  'a guardrail meets each query three times in a row': {
    instead: () => {
      const met = new Map<string, number>()
      return (reference) => async (request) => {
        const response = await reference(request)
        const text = await request.text()
        const count = (met.get(text) ?? 0) + 1
        if (response.ok && pathOf(request).endsWith('/query')) met.set(text, count)
        return (met.get(text) ?? 4) < 4 ? envelope(400, 'GuardrailBlockedError') : response
      }
    },
    only: ['graphs.query/2xx-accepted'],
    failed: [],
  },
}

describe('one fault is told of one requirement', () => {
  test.each(Object.entries({ ...servers, ...slips }))(
    '%s',
    async (_, { instead, only, failed }) => {
      const settings = { options: { only: [...only] }, instead: instead() }
      const { results } = await judgeReference({}, settings)
      expect(idsOf(results, 'failed'), reasons(results)).toEqual(failed)
    },
  )

  test('a deleted file that was added stays in its graph: each run sees that it could be added', async () => {
    const files = new Set<string>()
    const judge = (nonce: string, change?: JudgeSettings['change']) =>
      judgeReference(
        {},
        {
          options: { only: ['graphs.add-file/4xx-unknown-file'], nonce },
          instead: addsDeleted(files),
          ...(change && { change }),
        },
      )
    for (const nonce of ['one', 'two']) {
      const { results } = await judge(nonce)
      expect(idsOf(results, 'failed'), nonce).toEqual(['graphs.add-file/4xx-unknown-file'])
      const [failure] = results.find(({ outcome }) => outcome === 'failed')!.failures
      expect(failure?.actual).not.toContain('differ')
      expect(failure?.takes).not.toBe('chance')
    }
    // Nobody knows who added it to a graph that was there before.
    files.add(
      `/v1/knowledge-graphs/4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4001/files {"file_id":"${deletedFile}"}`,
    )
    const { results } = await judge('three', ({ operations, ...file }) => {
      const { 'graphs.create': _, ...others } = operations ?? {}
      return { ...file, operations: others }
    })
    const found = results.find(({ id }) => id === 'graphs.add-file/4xx-unknown-file')
    expect(found).toMatchObject({
      outcome: 'not-exercised',
      reason: expect.stringContaining('an earlier run may have added') as string,
    })
  })

  test('a second job for other inputs alone: the curl line starts the job of the first ones', async () => {
    const id = 'jobs.create/409-job-in-progress'
    const { results } = await judgeReference(
      { defects: [`${id}#identical-only`], slowJobMs: 1500 },
      { options: { only: [id] } },
    )
    const [failure] = results.find((one) => one.id === id)!.failures
    expect(failure?.message).toContain('with other values')
    const [first, second] = failure!.exchange!.curl.split(' --next ')
    const bodyOf = (line = ''): string | undefined => / --data\S* (.*)$/.exec(line)?.[1]
    expect(bodyOf(second)).toBeDefined()
    expect(bodyOf(first)).not.toBe(bodyOf(second))
    expect(evidenceText(failure!)).toMatch(/In the run the other one came [\d,]+ ms after it/)
  })

  test.each([
    [
      'files.upload/2xx-own-id#name',
      /which another creation of the same name, .+, gave/,
      /another request of the run made the object/,
    ],
    [
      'pdf.parse/200-content#name',
      /content is that of \w+\.pdf, uploaded under the same name, /,
      /./,
    ],
    [
      'files.upload/2xx-attached-to-graph',
      /./,
      /of file .+, which was uploaded with graphId .+ before/,
    ],
    ['graphs.add-file/2xx-other-graph', /./, /^(?!.*raise limits\.settleMs)/s],
  ])('%s tells of the other request that it needs', async (defect, actual, text) => {
    const [id = ''] = defect.split('#')
    const { results } = await judgeReference({ defects: [defect] }, { options: { only: [id] } })
    const [failure] = results.find((one) => one.id === id)!.failures
    expect(failure?.actual).toMatch(actual)
    expect(evidenceText(failure!)).toMatch(text)
  })

  test('what one request alone shows each time is told to take nothing besides', async () => {
    const limits = await judgeReference(
      {},
      {
        options: { only: ['vision.analyze/4xx-unknown-file'] },
        instead: servers['an unknown file is answered as a limit is']!.instead(),
      },
    )
    const jobs = await judgeReference(
      {},
      {
        options: { only: ['jobs.*'] },
        instead: (reference) => async (request) => {
          const response = await reference(request)
          const isReading = request.method === 'GET' && /\/jobs\//.test(request.url)
          if (!isReading || !response.ok) return response
          return Response.json({ ...((await response.json()) as object), application_id: 7 })
        },
      },
    )
    const failed = [...limits.results, ...jobs.results].filter(
      ({ outcome }) => outcome === 'failed',
    )
    expect(failed.map(({ id, failures: [first] }) => [id, first!.takes])).toEqual([
      ['vision.analyze/4xx-unknown-file', undefined],
      ['jobs.retrieve/200-job', undefined],
    ])
  })

  test('every second valid request breaks, of an operation that generates: no input is to blame, and it does not pass', async () => {
    const settings = {
      options: { only: ['translate.run/*', 'envelope/bad-input-no-5xx'] },
      instead: failsEvery(2, '/v1/translate', breaks),
    }
    const { results } = await judgeReference({}, settings)
    expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
    expect(results.find(({ id }) => id === 'translate.run/bad-input-no-5xx')).toMatchObject({
      outcome: 'not-exercised',
      reason: expect.stringContaining(
        'valid requests are answered 500 InternalError "No"',
      ) as string,
    })
  })
})
