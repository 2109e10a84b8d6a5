import { isJson } from '../../harness/checks/bodies.ts'
import { withOwn } from '../../harness/engine/probe.ts'
import type { HttpRequest } from '../../harness/http/message.ts'
import type { Alter } from './alteration.ts'
import type { Exchanged } from './traffic.ts'

type Rewrite = (request: HttpRequest, granted: Exchanged) => HttpRequest

/** The header of that name as in the request that was granted last. */
const headerOf =
  (name: string): Rewrite =>
  (request, { request: granted }) => {
    const own = granted.headers.filter((line) => line.name.toLowerCase() === name)
    return { ...request, headers: withOwn(request.headers, own) }
  }

const textOf = (body: HttpRequest['body'] = ''): string => Buffer.from(body).toString('latin1')

/** What an operation does not look at, though the others do. */
const rewrites: Readonly<Record<string, Rewrite>> = {
  'any key will do': headerOf('authorization'),
  'any content type will do': headerOf('content-type'),
  'malformed JSON is read as what was granted last': (request, granted) =>
    isJson(textOf(request.body)) ? request : { ...request, body: granted.request.body },
}

const shown = ({ headers, body }: HttpRequest): string => JSON.stringify([headers, textOf(body)])

/** By name, for all requests of one operation. */
export const requestChanges: ReadonlyMap<string, Alter> = new Map(
  Object.entries(rewrites).map(([name, rewrite]): [string, Alter] => [
    name,
    async ({ asked: { request }, past: { granted }, ask }) => {
      const rewritten = granted ? rewrite(request, granted) : request
      return { result: await ask(rewritten), changed: shown(rewritten) !== shown(request) }
    },
  ]),
)
