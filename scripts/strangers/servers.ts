/** A server that is judged: a command that starts it, and the target file that it is judged by. */
export interface Stranger {
  readonly name: string
  /** Package of the registry, with its version; ours need none. */
  readonly needs?: string
  readonly about: string
  /** Line of the shell; without it the target file holds the server itself. */
  readonly start?: (at: Place) => string
  /** Path below the repository; without it the target file of the reference, but for what only the reference understands. */
  readonly target?: string
}

/** Where a stranger finds what it needs. */
interface Place {
  /** The folder in which its package is installed. */
  readonly folder: string
  readonly document: string
  readonly port: number
}

const document = 'a mock server of our OpenAPI document'

/** A library without a command: these lines do what its own pages show. */
export const openapiBackendServer = `import { createServer } from 'node:http'
import { OpenAPIBackend } from 'openapi-backend'
const [definition, port] = process.argv.slice(2)
const api = new OpenAPIBackend({ definition, quick: true, ajvOpts: { strict: false, logger: false } })
const refused = (status) => () => [status, { message: 'refused' }]
api.register({
  notFound: refused(404), methodNotAllowed: refused(405), validationFail: refused(400), unauthorizedHandler: refused(401),
  notImplemented: ({ operation }) => {
    const { status, mock } = api.mockResponseForOperation(operation.operationId)
    return [status, mock]
  },
})
api.registerSecurityHandler('bearerAuth', ({ request }) => /^Bearer ./.test(request.headers.authorization ?? ''))
await api.init()
createServer(async (request, response) => {
  const { pathname: path, searchParams } = new URL(request.url, 'http://localhost')
  const text = Buffer.concat(await request.toArray()).toString()
  let body = text
  try { body = JSON.parse(text) } catch {}
  const { method, headers } = request
  const [status, answer] = await api.handleRequest({ method, path, query: String(searchParams), headers, body })
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}).listen(Number(port), '127.0.0.1')
`

/** In versions that run on each Node.js that the package promises. */
export const strangers: readonly Stranger[] = [
  {
    name: 'Prism',
    needs: '@stoplight/prism-cli@5.14.2',
    about: document,
    start: ({ folder, document: file, port }) =>
      `${folder}/node_modules/.bin/prism mock --host 127.0.0.1 --port ${port} ${file}`,
  },
  {
    name: 'Mockoon',
    needs: '@mockoon/cli@9.9.0',
    about: document,
    start: ({ folder, document: file, port }) =>
      `${folder}/node_modules/.bin/mockoon-cli start --data ${file} --port ${port} --disable-log-to-file`,
  },
  {
    name: 'openapi-backend',
    needs: 'openapi-backend@5.20.1',
    about: `${document}, with the handlers that its pages show`,
    start: ({ folder, document: file, port }) => `node ${folder}/server.mjs ${file} ${port}`,
  },
  {
    name: 'open-api-mocker',
    needs: 'open-api-mocker@2.0.0',
    about: document,
    start: ({ folder, document: file, port }) =>
      `${folder}/node_modules/.bin/open-api-mocker -s ${file} -p ${port}`,
  },
  {
    name: 'Steady',
    needs: '@stdy/cli@0.22.2',
    about: document,
    start: ({ folder, document: file, port }) =>
      `${folder}/node_modules/.bin/steady --port ${port} ${file}`,
  },
  ...['express', 'fastify', 'hono'].map((name) => ({
    name: `docs/examples/${name}`,
    about: 'An example of ours, with three operations',
    target: `docs/examples/${name}/conform.target.js`,
  })),
  {
    name: 'docs/examples/python',
    about: 'An example of ours, with three operations',
    target: 'docs/examples/python/conform.target.json',
    start: () => 'python3 docs/examples/python/server.py',
  },
]
