import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { Hono, type Context, type HonoRequest } from 'hono'
import { adminRoutes } from './admin.ts'
import { aliasMissing } from './world/aliases.ts'
import type { Answer } from './world/answer.ts'
import { Call } from './world/call.ts'
import { envelope } from './world/envelope.ts'
import { perform, type Operation } from './world/operation.ts'
import { allOperations } from './operations/index.ts'
import { answerUnknownRoute } from './unknown-routes.ts'
import { ConnectionLost, lose } from './world/lost-answer.ts'
import { successes } from './successes.ts'
import { throttled } from './throttled.ts'
import { transmit } from './transmit.ts'
import type { World } from './world/world.ts'

/** The socket that the request came on; none if the app is called in the same process. */
function socketOf(c: Context): Socket | undefined {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket
}

/** The routes of one server. */
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
  for (const operation of allOperations) app.on(operation.method, [...operation.paths], handle(operation))
  app.route('/admin', adminRoutes(world))
  app.notFound((c) => send(c, throttled(world) ?? answerUnknownRoute(c.req.method, c.req.path, world.switches)))
  app.onError((error, c) => {
    if (error instanceof ConnectionLost) throw error
    return send(c, envelope({ status: 500, tpe: 'InternalServerError' }))
  })
  return app
}
