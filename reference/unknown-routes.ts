import type { Answer } from './world/answer.ts'
import { envelope } from './world/envelope.ts'
import { allOperations } from './operations/index.ts'
import { page } from './world/page.ts'
import type { Switches } from './switches/switches.ts'

const knownPaths = new Set(allOperations.flatMap((operation) => operation.paths))
// Collections that a server may well list, although the spec shows only their creation.
const lists = new Set(['/v1/applications', '/v1/knowledge-graphs'])

/** Answers that break `envelope/unknown-path` and `envelope/unsupported-method`, by variant of the defect. */
const wrong: Readonly<Record<string, Answer>> = {
  '': { status: 404, body: { error: 'not found' } },
  '#5xx': envelope({ status: 500, tpe: 'InternalServerError' }),
  '#page': page(404),
  '#empty': { status: 404 },
}

const unknownPath: Readonly<Record<string, Answer>> = {
  'unknown-path/400': envelope({ status: 400, tpe: 'BadRequest' }),
  'unknown-path/401': envelope({ status: 401, tpe: 'Unauthorized' }),
  'unknown-path/403': envelope({ status: 403, tpe: 'Forbidden' }),
}

const unsupportedMethod: Readonly<Record<string, Answer>> = {
  'methods/400': envelope({ status: 400, tpe: 'BadRequest' }),
  'methods/405': { ...envelope({ status: 405, tpe: 'MethodNotAllowed' }), headers: { allow: 'POST' } },
}

function firstOf(answers: Readonly<Record<string, Answer>>, isOn: (name: string) => boolean): Answer | undefined {
  return Object.entries(answers).find(([name]) => isOn(name))?.[1]
}

/** What a request gets that is for none of the operations: an unknown path, or another method on a known one. */
export function answerUnknownRoute(method: string, path: string, { broken, varied }: Switches): Answer {
  const known = knownPaths.has(path)
  if (known && method === 'GET' && lists.has(path) && varied('methods/lists'))
    return { status: 200, body: { data: [] } }
  const id = known ? 'envelope/unsupported-method' : 'envelope/unknown-path'
  const answer =
    firstOf(wrong, (name) => broken(`${id}${name}`)) ?? firstOf(known ? unsupportedMethod : unknownPath, varied)
  if (!known && broken('envelope/unknown-path#granted')) return { status: 200, body: {} }
  return answer ?? envelope({ status: 404, tpe: 'NotFound', description: `No ${method} ${path}` })
}
