import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { Hono, type Context, type HonoRequest } from 'hono'
import { chat, completion } from './operations/chat.ts'
import { applicationsCreate, graphsCreate } from './operations/creations.ts'
import { filesList, filesRetrieve, filesUpload } from './operations/files.ts'
import { graphsAddFile, graphsQuery } from './operations/graphs.ts'
import { jobsCreate } from './operations/jobs-create.ts'
import { jobsRetrieve } from './operations/jobs-retrieve.ts'
import { pdfParse } from './operations/pdf.ts'
import { tools } from './operations/tools.ts'
import { successes, transmit } from './present.ts'
import { type Answer, ConnectionLost, envelope, lose, page, Call } from './world/call.ts'
import { isAlias, usualSpelling, verify } from './world/keys.ts'
import { type Operation, perform } from './world/operation.ts'
import { countUp, type World } from './world/world.ts'

// Operations with different `Found` types are widened to `Operation`: `find` and its users stay together.
const allOperations = [
  ...[
    pdfParse,
    jobsCreate,
    jobsRetrieve,
    completion,
    chat,
    filesUpload,
    filesList,
    filesRetrieve,
    graphsCreate,
  ],
  ...[graphsAddFile, graphsQuery, applicationsCreate, ...tools],
] as readonly Operation[]

const knownPaths = new Set(allOperations.flatMap(({ paths }) => paths))
// Collections that a server may list, although the spec shows only their creation.
const lists = new Set(['/v1/applications', '/v1/knowledge-graphs'])

const wrong: Readonly<Record<string, Answer>> = {
  '': { status: 404, body: { error: 'not found' } },
  '#5xx': envelope('500-InternalServerError'),
  '#page': page(404),
  '#empty': { status: 404 },
  '#granted': { status: 200, body: {} },
}

const methodNotAllowed = envelope('405-MethodNotAllowed')

const unknownPath: Readonly<Record<string, Answer>> = {
  'unknown-path/400': envelope('400-BadRequest'),
  'unknown-path/401': envelope('401-Unauthorized'),
  'unknown-path/403': envelope('403-Forbidden'),
}

const unsupportedMethod: Readonly<Record<string, Answer>> = {
  'methods/400': envelope('400-BadRequest'),
  'methods/405': { ...methodNotAllowed, headers: { allow: 'POST' } },
}

const aliasMissing: Readonly<Record<string, Answer>> = {
  'aliases/404': envelope('404-NotFound'),
  'aliases/405': { ...methodNotAllowed, headers: { allow: 'GET' } },
  'aliases/page-404': page(404),
}

function answerUnknownRoute(method: string, path: string, { switches }: World): Answer {
  const known = knownPaths.has(path)
  if (method === 'GET' && lists.has(path) && switches.varied('methods/lists'))
    return { status: 200, body: { data: [] } }
  if (path.includes('%') && switches.broken('envelope/unknown-path#escape'))
    return envelope('500-InternalServerError')
  const id = known ? 'envelope/unsupported-method' : 'envelope/unknown-path'
  const answer =
    switches.brokenOf(wrong, id) ?? switches.variedOf(known ? unsupportedMethod : unknownPath)
  return answer ?? envelope('404-NotFound', { description: `No ${method} ${path}` })
}

/**
 * Every request with a multiple of this number is throttled: often enough to hit every operation, rarely twice in a
 * row.
 */
const every = 97

function throttled(world: World): Answer | undefined {
  if (countUp(world, 'requests') % every !== 0) return undefined
  const load = envelope('503-ServiceUnavailable')
  const rate = envelope('429-TooManyRequests')
  return world.switches.variedOf({
    'throttled/429': rate,
    'throttled/429-seconds': { ...rate, headers: { 'retry-after': '1' } },
    'throttled/429-date': {
      ...rate,
      headers: { 'retry-after': new Date(Date.now() + 1000).toUTCString() },
    },
    'throttled/503': load,
    'throttled/503-seconds': { ...load, headers: { 'retry-after': '1' } },
  })
}

function socketOf(c: Context): Socket | undefined {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket
}

function callOf(c: Context, operation: Operation, world: World): Call {
  return new Call(operation.id, c.req as HonoRequest, world, (call) =>
    successes(operation.grant(call), call),
  )
}

export function createApp(world: World): Hono {
  const app = new Hono()
  const { switches } = world
  const spoiled = new WeakSet()
  const send = (c: Context, answer: Answer) =>
    transmit(answer, c.req.header('accept-encoding') ?? '', switches)

  const handle = (operation: Operation) => async (c: Context) => {
    const call = callOf(c, operation, world)
    const missing = isAlias(c.req.path) ? switches.variedOf(aliasMissing) : undefined
    const answer = throttled(world) ?? missing ?? (await perform(operation, call))
    if (answer.lost) return lose(answer.lost, world, socketOf(c), c.req.raw.signal)
    if (answer.spoils) spoiled.add(socketOf(c) ?? c)
    if (answer.afterMs !== undefined) await pause(answer.afterMs)
    return send(c, answer.error ? answer : successes(answer, call))
  }
  app.use(async (c, next) => {
    if (spoiled.delete(socketOf(c) ?? c)) return send(c, envelope('400-BadRequest'))
    return next()
  })
  for (const operation of allOperations)
    app.on(operation.method ?? 'POST', [...operation.paths], handle(operation))
  app.route('/admin', adminRoutes(world))
  app.notFound(async (c) => {
    // The fallback page of a web application, for paths outside the interface.
    if (
      c.req.method === 'GET' &&
      !c.req.path.startsWith('/v1/') &&
      switches.varied('spellings/page')
    )
      return send(c, page(200))
    const spelled = await answerSpelling(c, world, app)
    if (spelled instanceof Response) return spelled
    return send(
      c,
      throttled(world) ?? spelled ?? answerUnknownRoute(c.req.method, c.req.path, world),
    )
  })
  app.onError((error, c) => {
    if (error instanceof ConnectionLost) throw error
    return send(c, envelope('500-InternalServerError'))
  })
  return app
}

async function answerSpelling(
  c: Context,
  world: World,
  app: Hono,
): Promise<Answer | Response | undefined> {
  const { method, path } = c.req
  const { varied } = world.switches
  const usual = usualSpelling(path)
  if (usual === undefined || !allOperations.some((operation) => isOf(operation, method, usual)))
    return undefined
  if (varied('spellings/redirected')) return { status: 308, headers: { location: usual } }
  if (varied('spellings/refused')) return page(400)
  if (!varied('spellings/served')) return undefined
  const body = method === 'GET' ? {} : { body: await c.req.arrayBuffer() }
  return app.fetch(
    new Request(new URL(usual, c.req.url), { method, headers: c.req.raw.headers, ...body }),
    c.env as object,
  )
}

function isOf(operation: Operation, method: string, path: string): boolean {
  if ((operation.method ?? 'POST') !== method) return false
  return operation.paths.some((pattern) =>
    new RegExp(`^${pattern.replace(/:\w+/, '[^/]+')}$`).test(path),
  )
}

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
