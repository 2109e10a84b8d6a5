import { describe, expect, test } from 'vitest'
import type { Handler } from '../../harness/http/handler-transport.ts'
import { evidenceText } from '../../reporters/view/evidence.ts'
import { conflict, error } from '../engine/behind.ts'
import { type How, judge } from '../engine/networks.ts'
import { reasons } from './judge-reference.ts'

/** Servers with one fault that shows beside others: it is reported where it belongs, and nowhere else. */

type Asked = Parameters<Handler>[0]
type Instead = NonNullable<How['instead']>

const pathOf = ({ url }: Asked): string => new URL(url).pathname

/** What the reference answers, or something else in its place. */
const changing =
  (change: (request: Asked, response: Response) => Response | Promise<Response>): Instead =>
  (reference) =>
  async (request) =>
    change(request, await reference(request))

/** Every so manieth request to that path which would be granted is answered otherwise. */
function failsEvery(nth: number, path: string, otherwise: () => Response): Instead {
  let granted = 0
  return changing((request, response) => {
    const isSuch = pathOf(request) === path && request.method === 'POST' && response.ok
    return isSuch && ++granted % nth === 0 ? otherwise() : response
  })
}

const breaks = () => error(500, 'InternalError')
const refuses = () => error(400, 'BadRequest')

/** Uploads are gone after that time, for each request that names them. */
function vanishes(afterMs: number): Instead {
  const since = new Map<string, number>()
  return (reference) => async (request) => {
    const named = `${request.url} ${await request.text()}`
    const isGone = [...since].some(
      ([id, at]) => named.includes(id) && performance.now() - at > afterMs,
    )
    if (isGone) return error(404, 'ResourceNotFound')
    const response = await reference(request)
    if (request.method === 'POST' && pathOf(request) === '/v1/files' && response.ok)
      since.set(((await response.clone().json()) as { id: string }).id, performance.now())
    return response
  }
}

/** An upload of known bytes is a duplicate, whatever else is wrong with it. */
function knowsBytes(): Instead {
  const known = new Map<string, string | null>()
  return (reference) => async (request) => {
    const isUpload = pathOf(request) === '/v1/files' && request.method === 'POST'
    const key = request.headers.get('authorization')
    const isKnown = isUpload && known.get(await request.text()) === key
    if (isKnown && !request.headers.has('x-simulate')) return error(409, 'Conflict')
    const response = await reference(request)
    if (isUpload && response.ok) known.set(await request.text(), key)
    return response
  }
}

/** A guardrail meets each query three times in a row. */
function meetsThrice(): Instead {
  const met = new Map<string, number>()
  return changing(async (request, response) => {
    const text = await request.text()
    const count = (met.get(text) ?? 0) + 1
    if (response.ok && pathOf(request).endsWith('/query')) met.set(text, count)
    return (met.get(text) ?? 4) < 4 ? error(400, 'GuardrailBlockedError') : response
  })
}

const [detect, graphs] = ['/v1/tools/ai-detect', '/v1/knowledge-graphs']

/** These need many requests, and nothing of what fails here. */
const asides = ['*/401-*', '*/400-malformed-*', '*/400-query-config']

const ofUploads = ['files.upload/*', 'files.list/*', 'files.retrieve/*']

test.each<[string, () => Instead, readonly string[], readonly string[]]>([
  [
    'every second valid request breaks, of an operation that generates nothing',
    () => failsEvery(2, detect, breaks),
    ['ai-detect.run/*', 'envelope/bad-input-no-5xx'],
    ['ai-detect.run/2xx-accepted'],
  ],
  [
    'a chat with the declared tool breaks',
    () =>
      changing(async (request, response) =>
        /"type":"graph"/.test(await request.text()) && response.ok ? breaks() : response,
      ),
    ['chat.create/bad-input-no-5xx', 'chat.create/200-query-config', 'envelope/bad-input-no-5xx'],
    ['chat.create/200-query-config'],
  ],
  [
    'every third valid creation breaks',
    () => failsEvery(3, graphs, breaks),
    ['graphs.create/*', 'envelope/bad-input-no-5xx', 'envelope/charset-parameter'],
    ['graphs.create/2xx-accepted'],
  ],
  [
    'every second valid creation is refused',
    () => failsEvery(2, graphs, refuses),
    ['graphs.create/*', 'envelope/charset-parameter'],
    ['graphs.create/2xx-accepted'],
  ],
  [
    'every second valid request is refused, asked for by what compares two of them',
    () => failsEvery(2, detect, refuses),
    ['envelope/charset-parameter'],
    [],
  ],
  [
    'no application ever takes a job, not even one that was just made',
    () => changing((_, response) => (response.status === 202 ? conflict('jobs.create') : response)),
    ['jobs.create/202-created', 'applications.create/2xx-usable'],
    ['jobs.create/202-created'],
  ],
  [
    'an unknown file is answered as a limit is',
    () =>
      changing((_, response) => (response.status === 404 ? error(429, 'QuotaExceeded') : response)),
    ['vision.analyze/4xx-unknown-file', 'vision.analyze/bad-input-no-5xx'],
    [],
  ],
  [
    'every third addition is done, and answered as if the file were unknown',
    () => {
      let added = 0
      return changing((request, response) => {
        const isDone = response.ok && /-graphs\/[^/]+\/files$/.test(pathOf(request))
        return isDone && ++added % 3 === 0 ? error(404, 'ResourceNotFound') : response
      })
    },
    ['graphs.add-file/*'],
    [],
  ],
  [
    'uploads are gone after a while',
    () => vanishes(1500),
    [...ofUploads, 'graphs.*'],
    ['files.upload/2xx-retrievable'],
  ],
  [
    'uploads are never stored',
    () => vanishes(-1),
    [...ofUploads, 'graphs.*', 'pdf.parse/2*'],
    ['files.upload/2xx-retrievable'],
  ],
  [
    'an upload of known bytes is a duplicate, whatever else is wrong with it',
    knowsBytes,
    [...ofUploads, 'graphs.*'],
    [],
  ],
  [
    'a guardrail meets each query three times in a row',
    meetsThrice,
    ['graphs.query/2xx-accepted'],
    [],
  ],
])('one fault is reported of one requirement: %s', async (_, instead, only, expected) => {
  const { failed, results } = await judge(only, { instead: instead(), skip: asides })
  expect(failed, reasons(results)).toEqual(expected)
})

test('every second valid request breaks, of an operation that generates: no input is to blame', async () => {
  const only = ['translate.run/*', 'envelope/bad-input-no-5xx']
  const instead = failsEvery(2, '/v1/translate', breaks)
  const { failed, results, of } = await judge(only, { instead })
  expect(failed, reasons(results)).toEqual(['translate.run/2xx-accepted'])
  expect(of('translate.run/bad-input-no-5xx')).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringContaining('valid requests sometimes get 500 InternalError') as string,
  })
})

test('a parser that is left in a bad state breaks on the next request: the one before is to blame', async () => {
  let isSpoiled = false
  const { failed, of, results } = await judge(['web-search.run/*'], {
    instead: (reference) => async (request) => {
      const response = await reference(request)
      if (isSpoiled) {
        isSpoiled = false
        return breaks()
      }
      // A comment that is not closed for it.
      isSpoiled = (await request.text()).includes('/*')
      return response
    },
  })
  const id = 'web-search.run/400-malformed-json'
  expect(failed, reasons(results)).toEqual([id])
  expect(of(id).failures[0]?.actual).toBe('wrong only after the first one: 500 InternalError')
})

test('a request that breaks the next one of another operation fails its own row alone', async () => {
  let isSpoiled = false
  const id = 'web-search.run/400-malformed-json'
  const { failed, of, results } = await judge([id, 'translate.run/400-*'], {
    instead: (reference) => async (request) => {
      const isOther = request.url.includes('/translate')
      const breaksNow = isSpoiled && isOther
      if (isOther) isSpoiled = false
      else isSpoiled ||= (await request.text()).includes('/*')
      return breaksNow ? breaks() : reference(request)
    },
  })
  expect(failed, reasons(results)).toEqual([id])
  expect(of(id).failures[0]?.actual).toBe('wrong only after the first one: 500 InternalError')
})

describe('what a failure takes besides its request', () => {
  test('a deleted file that was added stays in its graph: each run sees that it could be added', async () => {
    const deletedFile = '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93002'
    const id = 'graphs.add-file/4xx-unknown-file'
    const files = new Set<string>()
    // A deleted file can be added to any graph, for good: a second time it is there already, also in the next run.
    const instead = changing(async (request, response) => {
      const file = `${pathOf(request)} ${await request.text()}`
      if (!/\/files .*/.test(file) || !file.includes(deletedFile) || response.status !== 404)
        return response
      if (files.has(file)) return conflict('graphs.add-file')
      files.add(file)
      return Response.json({ id: deletedFile })
    })
    for (const nonce of ['one', 'two']) {
      const { failed, of } = await judge([id], { nonce, instead })
      expect(failed, nonce).toEqual([id])
      const [failure] = of(id).failures
      expect(failure?.actual).not.toContain('differ')
      expect(failure?.takes).not.toBe('chance')
    }
    // Nobody knows who added it to a graph that was there before.
    const declared = '/v1/knowledge-graphs/4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4001/files'
    files.add(`${declared} {"file_id":"${deletedFile}"}`)
    const { of } = await judge([id], {
      nonce: 'three',
      instead,
      change: ({ operations, ...file }) => {
        const { 'graphs.create': _, ...others } = operations ?? {}
        return { ...file, operations: others }
      },
    })
    expect(of(id)).toMatchObject({
      outcome: 'not-exercised',
      reason: expect.stringContaining('an earlier run may have added') as string,
    })
  })

  test('a second job for other inputs alone: the curl line starts the job of the first ones', async () => {
    const id = 'jobs.create/409-job-in-progress'
    const reference = { defects: [`${id}#identical-only`], slowJobMs: 1500 }
    const [failure] = (await judge([id], { reference })).of(id).failures
    expect(failure?.message).toContain('with other values')
    const [first, second] = failure!.exchange!.curl.split(' --next ')
    const bodyOf = (line = ''): string | undefined => / --data\S* (.*)$/.exec(line)?.[1]
    expect(bodyOf(second)).toBeDefined()
    expect(bodyOf(first)).not.toBe(bodyOf(second))
  })

  test.each([
    [
      'files.upload/2xx-own-id#name',
      /which another creation, of .+, gave/,
      /the object came from an earlier request/,
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
  ])('%s tells of the other request that it needs', async (defect, actual, text) => {
    const id = defect.replace(/#.*/, '')
    const [failure] = (await judge([id], { reference: { defects: [defect] } })).of(id).failures
    expect(failure?.actual).toMatch(actual)
    expect(evidenceText(failure!)).toMatch(text)
  })

  test('what one request alone shows each time is reported to take nothing besides', async () => {
    const jobs = await judge(['jobs.retrieve/200-job', 'jobs.retrieve/200-identity'], {
      instead: changing(async (request, response) => {
        const isReading = request.method === 'GET' && /\/jobs\//.test(request.url)
        if (!isReading || !response.ok) return response
        return Response.json({ ...((await response.json()) as object), application_id: 7 })
      }),
    })
    expect(jobs.failed).toEqual(['jobs.retrieve/200-job'])
    for (const { failures } of jobs.results) expect(failures[0]?.takes).toBeUndefined()
  })
})
