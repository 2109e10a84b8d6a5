import { Hono } from 'hono'
import { verify } from './world/keys.ts'
import type { World } from './world/world.ts'

/** What operators do, beside the interface: clean up after a run, switch the search service off and on. */
export function adminRoutes(world: World): Hono {
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
