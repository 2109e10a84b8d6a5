import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { Hono, type Context, type HonoRequest } from 'hono'
import { chat, completion } from './operations/chat.ts'
import {
  applicationsCreate,
  graphsCreate,
  graphsAddFile,
  graphsQuery,
} from './operations/graphs.ts'
import { filesList, filesRetrieve, filesUpload } from './operations/files.ts'
import { jobsCreate, jobsRetrieve } from './operations/jobs.ts'
import { pdfParse } from './operations/pdf.ts'
import { tools } from './operations/tools.ts'
import { successes, transmit } from './present.ts'
import {
  type Answer,
  envelope,
  ok,
  page,
  Call,
  isAlias,
  usualSpelling,
  verify,
} from './world/call.ts'
import { type Operation, perform } from './world/operation.ts'
import { countUp, type World } from './world/world.ts'

// Operations with different `Found` types are widened to `Operation`: `find` and its users stay together.
// oxfmt-ignore
const allOperations = [
  pdfParse, jobsCreate, jobsRetrieve, completion, chat, filesUpload, filesList, filesRetrieve, graphsCreate,
  graphsAddFile, graphsQuery, applicationsCreate, ...tools,
] as readonly Operation[]

const knownPaths = new Set(allOperations.flatMap((operation) => operation.paths))
// Collections that a server may list, although the spec shows only their creation.
const lists = new Set(['/v1/applications', '/v1/knowledge-graphs'])

const wrong: Readonly<Record<string, Answer>> = {
  '': { status: 404, body: { error: 'not found' } },
  '#5xx': envelope('500-InternalServerError'),
  '#page': page(404),
  '#empty': { status: 404 },
  '#granted': ok({}),
}

const methodNotAllowed = envelope('405-MethodNotAllowed')

const unknownPath: Readonly<Record<string, Answer>> = {
  400: envelope('400-BadRequest'),
  401: envelope('401-Unauthorized'),
  403: envelope('403-Forbidden'),
}
const unsupportedMethod: Readonly<Record<string, Answer>> = {
  400: envelope('400-BadRequest'),
  405: { ...methodNotAllowed, headers: { allow: 'POST' } },
}
const aliasMissing: Readonly<Record<string, Answer>> = {
  404: envelope('404-NotFound'),
  405: { ...methodNotAllowed, headers: { allow: 'GET' } },
  'page-404': page(404),
}

function answerUnknownRoute(method: string, path: string, world: World): Answer {
  if (method === 'GET' && lists.has(path) && world.switches.varied('methods/lists'))
    return ok({ data: [] })
  if (path.includes('%') && world.switches.broken('envelope/unknown-path#escape'))
    return envelope('500-InternalServerError')
  const [id, way, variants] = knownPaths.has(path)
    ? (['envelope/unsupported-method', 'methods/', unsupportedMethod] as const)
    : (['envelope/unknown-path', 'unknown-path/', unknownPath] as const)
  const answer = world.switches.brokenOf(id, wrong) ?? world.switches.variedOf(way, variants)
  return answer ?? envelope('404-NotFound', { description: `No ${method} ${path}` })
}

/** One in this many requests is throttled: often enough to hit every operation, rarely twice in a row. */
const every = 97

function throttled(world: World): Answer | undefined {
  if (countUp(world, 'requests') % every !== 0) return undefined
  const load = envelope('503-ServiceUnavailable')
  const rate = envelope('429-TooManyRequests')
  const seconds = { 'retry-after': '1' }
  const date = { 'retry-after': new Date(Date.now() + 1000).toUTCString() }
  return world.switches.variedOf('throttled/', {
    429: rate,
    '429-seconds': { ...rate, headers: seconds },
    '429-date': { ...rate, headers: date },
    503: load,
    '503-seconds': { ...load, headers: seconds },
  })
}

function socketOf(c: Context): Socket | undefined {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket
}

class ConnectionLost extends Error {
  readonly code = 'ECONNRESET'
}

/** Gives no answer: simulates the loss on the socket, or throws if there is no socket. */
async function lose(loss: Answer['lost'], world: World, c: Context): Promise<Response> {
  const { signal } = c.req.raw
  if (loss === 'silence')
    await pause(world.pace.silenceMs, undefined, { signal, ref: false }).catch(() => undefined)
  const socket = socketOf(c)
  if (!socket) throw new ConnectionLost('the connection was closed without an answer')
  if (loss === 'noise') socket.end('220 tea.example ESMTP\r\n')
  else socket.destroy()
  return new Response(null, { status: 500 })
}

export function createApp(world: World): Hono {
  const app = new Hono()
  const { switches } = world
  const spoiled = new WeakSet()
  const send = (c: Context, answer: Answer) =>
    transmit(answer, c.req.header('accept-encoding') ?? '', switches)

  const handle = (operation: Operation) => async (c: Context) => {
    const call = new Call(operation.id, c.req as HonoRequest, world, (own) =>
      successes(operation.grant?.(own) ?? ok({}), own),
    )
    const missing = isAlias(c.req.path) ? switches.variedOf('aliases/', aliasMissing) : undefined
    const answer = throttled(world) ?? missing ?? (await perform(operation, call))
    if (answer.lost) return lose(answer.lost, world, c)
    if (answer.spoils) spoiled.add(socketOf(c) ?? c)
    if (answer.afterMs !== undefined) await pause(answer.afterMs)
    return send(c, answer.error ? answer : successes(answer, call))
  }
  app.use(async (c, next) => {
    // Which no requirement expects: a 400 would be right for most refusals.
    if (spoiled.delete(socketOf(c) ?? c)) return send(c, envelope('404-NotFound'))
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
    const { method, path } = c.req
    const spelled = await answerSpelling(c, world, app)
    if (spelled instanceof Response) return spelled
    return send(c, throttled(world) ?? spelled ?? answerUnknownRoute(method, path, world))
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
  const isServed = (operation: Operation): boolean =>
    (operation.method ?? 'POST') === method &&
    operation.paths.some((pattern) =>
      new RegExp(`^${pattern.replace(/:\w+/, '[^/]+')}$`).test(usual!),
    )
  if (usual === undefined || !allOperations.some(isServed)) return undefined
  if (varied('spellings/redirected')) return { status: 308, headers: { location: usual } }
  if (varied('spellings/refused')) return page(400)
  if (!varied('spellings/served')) return undefined
  const body = method === 'GET' ? {} : { body: await c.req.arrayBuffer() }
  return app.fetch(
    new Request(new URL(usual, c.req.url), { method, headers: c.req.raw.headers, ...body }),
    c.env as object,
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
