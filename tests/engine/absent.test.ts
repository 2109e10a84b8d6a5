import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { type FetchHandler, runConformance, type Target } from '../../library/index.ts'
import { createReference } from '../../reference/server.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import { error } from './behind.ts'

/** How servers answer a path that they do not have, if nobody tells them otherwise; most put the path, the time or an id in. */
const unknownPaths: Readonly<Record<string, (request: Request, path: string) => unknown>> = {
  Express: ({ method }, path) =>
    `<!DOCTYPE html><title>Error</title><pre>Cannot ${method} ${path}</pre>`,
  'Spring Boot': (_, path) => ({ timestamp: time(), status: 404, error: 'Not Found', path }),
  'ASP.NET': () => ({
    title: 'Not Found',
    status: 404,
    traceId: `00-${(number++).toString(16).padStart(16, 'a')}-00`,
  }),
  FastAPI: () => ({ detail: 'Not Found' }),
  Go: () => '404 page not found\n',
}
let number = 0
const time = (): string => new Date(1_700_000_000_000 + 1000 * number++).toISOString()

type Kind = keyof typeof unknownPaths

/** The reference behind a server that passes some paths on, and has no others; `401` before that if `asksFirst`. */
function halfBuilt(kind: Kind, isBuilt: RegExp, asksFirst = false): Target {
  const { handle, target } = createReference({})
  const key = (target as { keys: { full: string } }).keys.full
  const fetch: FetchHandler = async (request) => {
    const { pathname, search } = new URL(request.url)
    if (isBuilt.test(`${request.method} ${pathname}`)) return handle(request)
    if (asksFirst && request.headers.get('authorization') !== `Bearer ${key}`)
      return error(401, 'BadCredentials')
    const body = unknownPaths[kind]!(request, pathname + search)
    const text = typeof body === 'string'
    return new Response(text ? body : JSON.stringify(body), {
      status: 404,
      headers: { 'content-type': text ? 'text/html' : 'application/json' },
    })
  }
  return { fetch, keys: { full: key } }
}

const options = {
  depth: 'quick',
  seed: 3,
  only: [
    '*/2xx-*',
    '*/200-*',
    '*/202-*',
    '*/401-missing-credentials',
    '*/404-*',
    'envelope/unknown-path',
  ],
} as const
const reportOf = (target: Target) =>
  inVirtualTime(() => runConformance(target, { ...options, only: [...options.only] }).report)
const runOf = async (target: Target) => (await reportOf(target)).run

const built =
  /^GET \/v1\/files|^POST \/v1\/applications\/[^/]+\/jobs$|^GET \/v1\/applications\/jobs\//
const there = ['jobs.create', 'jobs.retrieve', 'files.list', 'files.retrieve']

test.each(Object.keys(unknownPaths))(
  'what a server does not have is found by how it answers: %s',
  async (kind) => {
    for (const asksFirst of kind === 'Express' ? [false, true] : [false]) {
      const { absent = [], hints = [] } = await runOf(halfBuilt(kind, built, asksFirst))
      const ids = absent.map(({ operation }) => operation)
      expect(hints).toEqual([])
      for (const id of there) expect(ids).not.toContain(id)
      expect(ids).toHaveLength(operations.length - there.length)
      expect(absent[0]!.answered).toMatch(/^404 /)
      for (const { answered } of absent) expect(answered).not.toMatch(/\/v1\//)
    }
  },
)

test('without a key a server that has no files is not told to look at the base URL, and one that has nothing is', async () => {
  const runWithoutKey = (isBuilt: RegExp) => runOf({ ...halfBuilt('FastAPI', isBuilt), keys: {} })
  const { absent = [], hints = [] } = await runWithoutKey(/^\w+ \/v1\/(?!files)/)
  expect(hints).toEqual([])
  for (const { operation } of absent) expect(operation).toMatch(/^files\./)
  expect((await runWithoutKey(/^never/)).hints).toEqual([
    expect.stringContaining('check the base URL'),
  ])
})

test.each([
  [{ tpe: 'InternalError', errors: [], extras: {} }, 'check the log of the server'],
  [{ message: 'warming up' }, 'check the log of the server'],
])('a user whose server answers everything with 500 %j is advised to %s', async (body, remedy) => {
  const fetch: FetchHandler = () => Response.json(body, { status: 500 })
  const { exit } = await reportOf({ fetch, keys: { full: 'a-key-of-nobody' } })
  expect(exit).toMatchObject({ code: 3, because: expect.stringContaining(remedy) })
})

test('a server that has everything lacks nothing', async () => {
  expect((await runOf(halfBuilt('Go', /./))).absent).toBeUndefined()
})

test.each([405, 501])('a %i is no answer of an operation that is there', async (status) => {
  const target = halfBuilt('Go', built)
  const { fetch } = target as { fetch: FetchHandler }
  const own: FetchHandler = async (request) => {
    const { status: was } = await fetch(request.clone())
    return was === 404 && !request.url.includes('/files')
      ? error(status, 'NotFound')
      : fetch(request)
  }
  const { absent = [] } = await runOf({ ...target, fetch: own })
  expect(absent.find(({ operation }) => operation === 'translate.run')?.answered).toMatch(
    `${status} `,
  )
})

test('a server that takes no files gets none, but for the one request that shows it', async () => {
  const { handle, target } = createReference({})
  const uploads: string[] = []
  const fetch: FetchHandler = (request) => {
    const { pathname } = new URL(request.url)
    if (request.method === 'POST' && pathname === '/v1/files') uploads.push(pathname)
    return handle(request)
  }
  const { resources, keys } = target as Target
  const own: Target = { fetch, keys, resources, operations: { '*': 'not-served' } }
  const { requirements } = await inVirtualTime(
    () => runConformance(own, { seed: 3, only: ['pdf.parse/*'] }).report,
  )
  expect(uploads).toHaveLength(1)
  const judged = requirements.filter(({ outcome }) => outcome === 'passed')
  expect(judged.map(({ id }) => id)).toContain('pdf.parse/200-content')
})
