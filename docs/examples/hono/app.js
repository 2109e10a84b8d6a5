/** Three operations of the interface with Hono: the list of files, one file, and a web search. */
import { Hono } from 'hono'

export const key = process.env.API_KEY ?? 'the-key-of-this-example'
const files = [{ id: 'a.pdf' }, { id: 'b.txt' }]

const refusal = (tpe, description) => ({ tpe, errors: [{ description }], extras: {} })

export const app = new Hono()

app.use(async (c, next) => {
  if (c.req.header('authorization') === `Bearer ${key}`) return next()
  return c.json(refusal('BadCredentials', 'The key is missing, or is not ours'), 401)
})

app.get('/v1/files', (c) => {
  const types = c.req.query('file_types')?.split(',')
  return c.json({
    files: files.filter(({ id }) => !types || types.some((type) => id.endsWith(`.${type}`))),
  })
})

app.get('/v1/files/:id', (c) => {
  const file = files.find(({ id }) => id === c.req.param('id'))
  return file ? c.json(file) : c.json(refusal('ResourceNotFound', 'There is no such file'), 404)
})

app.post('/v1/tools/web-search', async (c) => {
  const isJson = /^application\/json\b/i.test(c.req.header('content-type') ?? '')
  const body = isJson ? await c.req.json().catch(() => undefined) : undefined
  if (body === undefined) return c.json(refusal('InvalidContentType', 'Send JSON'), 400)
  const query = body?.query
  if (typeof query !== 'string' || query === '')
    return c.json(refusal('BadRequest', 'Send a query'), 400)
  return c.json({ results: [{ title: `All about ${query}` }] })
})

app.notFound((c) => c.json(refusal('NotFound', 'There is no such operation'), 404))
