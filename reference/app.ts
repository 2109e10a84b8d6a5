import { type Operation, perform } from './world/operation.ts'
import { applicationsCreate, jobsCreate } from './operations/applications.ts'
import { chat, completion } from './operations/chat.ts'
import { filesUpload, filesList, filesRetrieve, pdfParse } from './operations/files.ts'
import { graphsAddFile, graphsCreate, graphsQuery } from './operations/graphs.ts'
import { jobsRetrieve } from './operations/jobs-retrieve.ts'
import { aiDetect, medicalComprehend, translate, vision, webSearch } from './operations/tools.ts'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { Hono, type Context, type HonoRequest } from 'hono'
import { aliasMissing, isAlias, credentialFault, spellingOf, verify } from './world/keys.ts'
import { preloadedIds } from './world/preloaded.ts'
import { type Answer, envelope, page, ConnectionLost, lose } from './world/answer.ts'
import { Call } from './world/call.ts'
import { transmit, enlarged } from './present.ts'
import { type World, countUp } from './world/world.ts'
import type { Switches } from './switches/switches.ts'
import { words } from './switches/table.ts'

// Here an operation that looks up an object counts as `Operation<unknown>`: its `find` and what reads it stay together.
/** The operations of §4, all 17. */
export const allOperations = [
  pdfParse,
  jobsCreate,
  jobsRetrieve,
  completion,
  chat,
  filesUpload,
  filesList,
  filesRetrieve,
  graphsCreate,
  graphsAddFile,
  graphsQuery,
  applicationsCreate,
  aiDetect,
  webSearch,
  medicalComprehend,
  translate,
  vision,
] as readonly Operation[]

const knownPaths = new Set(allOperations.flatMap((operation) => operation.paths))
// Collections that a server may well list, although the spec shows only their creation.
const lists = new Set(['/v1/applications', '/v1/knowledge-graphs'])

/** Answers that break `envelope/unknown-path` and `envelope/unsupported-method`, by variant of the defect. */
const wrong: Readonly<Record<string, Answer>> = {
  '': { status: 404, body: { error: 'not found' } },
  '#5xx': envelope({ status: 500, tpe: 'InternalServerError' }),
  '#page': page(404),
  '#empty': { status: 404 },
}

const unknownPath: Readonly<Record<string, Answer>> = {
  'unknown-path/400': envelope({ status: 400, tpe: 'BadRequest' }),
  'unknown-path/401': envelope({ status: 401, tpe: 'Unauthorized' }),
  'unknown-path/403': envelope({ status: 403, tpe: 'Forbidden' }),
}

const unsupportedMethod: Readonly<Record<string, Answer>> = {
  'methods/400': envelope({ status: 400, tpe: 'BadRequest' }),
  'methods/405': { ...envelope({ status: 405, tpe: 'MethodNotAllowed' }), headers: { allow: 'POST' } },
}

function firstOf(answers: Readonly<Record<string, Answer>>, isOn: (name: string) => boolean): Answer | undefined {
  return Object.entries(answers).find(([name]) => isOn(name))?.[1]
}

/** Answers a request that is for none of the operations: an unknown path, or another method on a known one. */
function answerUnknownRoute(method: string, path: string, { broken, varied }: Switches): Answer {
  const known = knownPaths.has(path)
  if (known && method === 'GET' && lists.has(path) && varied('methods/lists'))
    return { status: 200, body: { data: [] } }
  const id = known ? 'envelope/unsupported-method' : 'envelope/unknown-path'
  const answer =
    firstOf(wrong, (name) => broken(`${id}${name}`)) ?? firstOf(known ? unsupportedMethod : unknownPath, varied)
  if (!known && broken('envelope/unknown-path#granted')) return { status: 200, body: {} }
  return answer ?? envelope({ status: 404, tpe: 'NotFound', description: `No ${method} ${path}` })
}

/** Operations whose success has no shape in the spec, and of whose answer no client needs a member. */
const shapeless = new Set(
  words(`completion.create files.list files.retrieve graphs.add-file graphs.query ai-detect.run web-search.run
    translate.run vision.analyze`),
)

/** Operations that make something, and whose success has no shape either. */
const creations = new Set(['files.upload', 'graphs.create', 'applications.create'])

const others: Readonly<Record<string, Answer>> = {
  'successes/no-content': { status: 204 },
  'successes/plain-text': { status: 200, text: { type: 'text/plain', value: 'done {' } },
  'successes/empty': { status: 200 },
  'successes/other-2xx': { status: 203, body: { done: true } },
  'successes/json-scalar': { status: 200, body: 17 },
}

/** The success of an operation, or another 2xx of a variant if the spec shows no shape. */
function successes(answer: Answer, call: Call): Answer {
  // A page that says that nothing is there is none.
  if (answer.status >= 300) return answer
  if (creations.has(call.operation)) {
    if (call.varied('successes/accepted-creations')) return { ...answer, status: 202 }
    return call.varied('successes/no-content-creations') ? { status: 204 } : answer
  }
  if (!shapeless.has(call.operation)) return answer
  for (const [variant, other] of Object.entries(others)) if (call.varied(variant)) return other
  return enlarged(answer, call)
}

/** Every request of that number is throttled: often enough to be met by every operation of a run, seldom in a row. */
const every = 97

function answers(): Readonly<Record<string, Answer>> {
  const rate = envelope({ status: 429, tpe: 'TooManyRequests' })
  const load = envelope({ status: 503, tpe: 'ServiceUnavailable' })
  return {
    'throttled/429': rate,
    'throttled/429-seconds': { ...rate, headers: { 'retry-after': '1' } },
    'throttled/429-date': { ...rate, headers: { 'retry-after': new Date(Date.now() + 1000).toUTCString() } },
    'throttled/503': load,
    'throttled/503-seconds': { ...load, headers: { 'retry-after': '1' } },
  }
}

/** A 429 or 503 now and then, under the variants that have them. */
function throttled(world: World): Answer | undefined {
  if (countUp(world, 'requests') % every !== 0) return undefined
  return Object.entries(answers()).find(([variant]) => world.switches.varied(variant))?.[1]
}

/** The socket that the request came on; none if the app is called in the same process. */
function socketOf(c: Context): Socket | undefined {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket
}

export function createApp(world: World): Hono {
  const app = new Hono()
  /** Connections on which the next request cannot be read. */
  const spoiled = new WeakSet()
  const send = (c: Context, answer: Answer) => transmit(answer, c.req.header('accept-encoding') ?? '', world.switches)

  const handle = (operation: Operation) => async (c: Context) => {
    const call = new Call(operation.id, c.req as HonoRequest, world, (refused) =>
      successes(operation.grant(refused), refused),
    )
    const answer = throttled(world) ?? aliasMissing(c.req.path, world.switches) ?? (await perform(operation, call))
    if (answer.lost) return lose(answer.lost, world, socketOf(c), c.req.raw.signal)
    if (answer.spoils) spoiled.add(socketOf(c) ?? c)
    if (answer.afterMs !== undefined) await pause(answer.afterMs)
    return send(c, answer.error ? answer : successes(answer, call))
  }
  app.use(async (c, next) => {
    if (spoiled.delete(socketOf(c) ?? c)) return send(c, envelope({ status: 400, tpe: 'BadRequest' }))
    return next()
  })
  for (const operation of allOperations) app.on(operation.method ?? 'POST', [...operation.paths], handle(operation))
  app.route('/admin', adminRoutes(world))
  app.notFound(async (c) => {
    // The fallback of a web page, for whatever does not begin like the interface.
    if (c.req.method === 'GET' && !c.req.path.startsWith('/v1/') && world.switches.varied('spellings/page'))
      return send(c, page(200))
    const spelled = await answerSpelling(c, world, app)
    if (spelled instanceof Response) return spelled
    return send(c, throttled(world) ?? spelled ?? answerUnknownRoute(c.req.method, c.req.path, world.switches))
  })
  app.onError((error, c) => {
    if (error instanceof ConnectionLost) throw error
    return send(c, envelope({ status: 500, tpe: 'InternalServerError' }))
  })
  return app
}

/** Faults of keys: a server that takes one of them in another spelling of a path takes that spelling. */
const wrongKeys = ['401-missing-credentials', '401-expired-key', '403-insufficient-rights']

/** Answers another spelling of a path as a lenient router does, or a router that says where to go. */
async function answerSpelling(c: Context, world: World, app: Hono): Promise<Answer | Response | undefined> {
  const { method } = c.req
  const alias = isAlias(c.req.path) ? { kind: 'alias', path: `${c.req.path}/${preloadedIds.pdfFile}` } : undefined
  const spelling = alias ?? spellingOf(c.req.path)
  const { varied, broken } = world.switches
  const meant = allOperations.find(
    (operation) =>
      (operation.method ?? 'POST') === method && operation.paths.some((path) => matches(path, spelling?.path ?? '')),
  )
  if (!spelling || !meant) return undefined
  const fault = await credentialFault(c.req.header('authorization'))
  if (fault !== undefined && broken(`${meant.id}/${fault}#takes-${spelling.kind}`))
    return meant.grant(new Call(meant.id, c.req as HonoRequest, world, () => ({ status: 200 })))
  if (spelling === alias) return undefined
  const asked = wrongKeys.some((fault) => broken(`${meant.id}/${fault}#takes-${spelling.kind}`))
  if (varied('spellings/redirected')) return { status: 308, headers: { location: spelling.path } }
  if (varied('spellings/refused')) return page(400)
  if (!asked && !varied('spellings/served')) return undefined
  const body = method === 'GET' ? {} : { body: await c.req.arrayBuffer() }
  const url = new URL(c.req.url)
  url.pathname = spelling.path
  return app.fetch(new Request(url, { method, headers: c.req.raw.headers, ...body }), c.env as object)
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/')
  const own = path.split('/')
  return parts.length === own.length && parts.every((part, at) => part.startsWith(':') || part === own[at])
}

/** Work of operators, beside the interface: clean up after a run, switch the search service off and on. */
function adminRoutes(world: World): Hono {
  const admin = new Hono()
  const { files, graphs, applications } = world.store

  admin.use(async (c, next) => {
    const key = await verify((c.req.header('authorization') ?? '').replace(/^Bearer /, ''))
    if (typeof key === 'string' || !key.permissions.includes('*')) return c.body(null, 401)
    await next()
  })
  for (const [kind, objects] of Object.entries({ files, graphs, applications })) {
    admin.delete(`/${kind}/:id`, (c) => {
      objects.delete(c.req.param('id'))
      return c.body(null, 204)
    })
  }
  admin.post('/search', async (c) => {
    world.searchDown = (await c.req.json<{ down?: unknown }>()).down === true
    return c.body(null, 204)
  })
  return admin
}
