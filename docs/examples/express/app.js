/** Three operations of the interface with Express: the list of files, one file, and a web search. */
import express from 'express'

export const key = process.env.API_KEY ?? 'the-key-of-this-example'
const files = [{ id: 'a.pdf' }, { id: 'b.txt' }]

const refuse = (response, status, tpe, description) =>
  response.status(status).json({ tpe, errors: [{ description }], extras: {} })

export const app = express()

app.use((request, response, next) => {
  if (request.get('authorization') === `Bearer ${key}`) next()
  else refuse(response, 401, 'BadCredentials', 'The key is missing, or is not ours')
})
app.use(express.json({ strict: false }))

app.get('/v1/files', (request, response) => {
  const types = request.query.file_types?.toString().split(',')
  response.json({
    files: files.filter(({ id }) => !types || types.some((type) => id.endsWith(`.${type}`))),
  })
})

app.get('/v1/files/:id', (request, response) => {
  const file = files.find(({ id }) => id === request.params.id)
  if (file) response.json(file)
  else refuse(response, 404, 'ResourceNotFound', 'There is no such file')
})

app.post('/v1/tools/web-search', (request, response) => {
  if (!request.is('application/json'))
    return refuse(response, 400, 'InvalidContentType', 'Send JSON')
  const query = request.body?.query
  if (typeof query !== 'string' || query === '')
    return refuse(response, 400, 'BadRequest', 'Send a query')
  response.json({ results: [{ title: `All about ${query}` }] })
})

app.use((_request, response) => refuse(response, 404, 'NotFound', 'There is no such operation'))

// What express.json does not read, by its type. Express recognises an error handler by its four parameters.
const unread = {
  'entity.parse.failed': [400, 'InvalidContentType', 'This is not JSON'],
  'entity.too.large': [413, 'PayloadTooLarge', 'This is too long'],
}
app.use((error, _request, response, _next) =>
  refuse(response, ...(unread[error.type] ?? [500, 'InternalError', 'This is our mistake'])),
)
