/** Three operations of the interface with Fastify: the list of files, one file, and a web search. */
import Fastify from 'fastify'

export const key = process.env.API_KEY ?? 'the-key-of-this-example'
const files = [{ id: 'a.pdf' }, { id: 'b.txt' }]

const refuse = (reply, status, tpe, description) =>
  reply.code(status).send({ tpe, errors: [{ description }], extras: {} })

export const app = Fastify({
  frameworkErrors: (_error, _request, reply) => refuse(reply, 400, 'BadRequest', 'Not a path'),
})

app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${key}`)
    return refuse(reply, 401, 'BadCredentials', 'The key is missing, or is not ours')
})

app.get('/v1/files', async (request) => {
  const types = request.query.file_types?.toString().split(',')
  return {
    files: files.filter(({ id }) => !types || types.some((type) => id.endsWith(`.${type}`))),
  }
})

app.get('/v1/files/:id', async (request, reply) => {
  const file = files.find(({ id }) => id === request.params.id)
  return file ?? refuse(reply, 404, 'ResourceNotFound', 'There is no such file')
})

app.post('/v1/tools/web-search', async (request, reply) => {
  const query = request.body?.query
  if (typeof query !== 'string' || query === '')
    return refuse(reply, 400, 'BadRequest', 'Send a query')
  return { results: [{ title: `All about ${query}` }] }
})

app.setNotFoundHandler((_request, reply) =>
  refuse(reply, 404, 'NotFound', 'There is no such operation'),
)

// Fastify parses bodies by itself: bodies that are not JSON, or not labelled as JSON, arrive here.
app.setErrorHandler((error, _request, reply) =>
  error.code?.startsWith('FST_ERR_CTP')
    ? refuse(reply, 400, 'InvalidContentType', 'Send JSON')
    : refuse(reply, 500, 'InternalError', 'This is our mistake'),
)
