import { createServer, type IncomingMessage } from 'node:http'
import { type Context, OpenAPIBackend } from 'openapi-backend'
import { openapiDocument } from '../../scripts/openapi/paths.ts'
import { listen } from '../wire/servers.ts'

export const mockKey = 'the-key-of-the-mock-server'

type Answer = readonly [status: number, body: unknown]

/** Server that answers for the document. It keeps nothing, and to compile all its schemas takes long: one serves all servers. */
async function answerer() {
  const api = new OpenAPIBackend({
    definition: openapiDocument() as never,
    // Two linters have looked at the document; this check knows no JSON Schema of 3.1.
    quick: true,
    ajvOpts: { strict: false, logger: false },
  })
  api.register({
    notFound: () => refusal(404, 'NotFound'),
    methodNotAllowed: () => refusal(405, 'BadRequest'),
    unauthorizedHandler: () => refusal(401, 'BadCredentials'),
    validationFail: () => refusal(400, 'BadRequest'),
    notImplemented({ api: own, operation }: Context): Answer {
      const { status, mock } = own.mockResponseForOperation(operation.operationId!)
      return [status, mock]
    },
  })
  api.registerSecurityHandler(
    'bearerAuth',
    ({ request }: Context) => request.headers['authorization'] === `Bearer ${mockKey}`,
  )
  await api.init()
  return api
}
const known: { api?: ReturnType<typeof answerer> } = {}

/**
 * A server that knows the document and nothing else: paths, credentials and bodies are what the document says they are, and
 * a request that it allows gets an example of the first success. It keeps no state.
 */
export async function mockServer(): Promise<string> {
  const api = await (known.api ??= answerer())
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname: path, searchParams } = new URL(request.url!, 'http://localhost')
      const { method = '', headers } = request
      const plain = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, String(value)]),
      )
      const body = await bodyOf(request)
      const asked = { method, path, query: String(searchParams), headers: plain, body }
      const [status, answer] = (await api.handleRequest(asked)) as Answer
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })()
  })
  return (await listen(server)).url
}

function refusal(status: number, tpe: string): Answer {
  return [status, { tpe, errors: [], extras: {} }]
}

/** JSON if it is, text if not. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const text = Buffer.concat(await request.toArray()).toString()
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
