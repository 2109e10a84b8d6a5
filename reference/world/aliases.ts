import type { Answer } from './answer.ts'
import { envelope, page } from './envelope.ts'
import type { Switches } from '../switches/switches.ts'

/** Paths that the spec shows beside the usual one of an operation (§4.4). */
const aliases: ReadonlySet<string> = new Set(['/v1/chat', '/v1/vision', '/v1/tools/pdf-parser'])

/** What a server answers there if it has only the usual paths. */
const missing: Readonly<Record<string, Answer>> = {
  'aliases/404': envelope({ status: 404, tpe: 'NotFound' }),
  'aliases/405': { ...envelope({ status: 405, tpe: 'MethodNotAllowed' }), headers: { allow: 'GET' } },
  'aliases/page-404': page(404),
}

/** Whether it is such a path. */
export function isAlias(path: string): boolean {
  return aliases.has(path)
}

/** The answer at such a path under the variants that do not have it. */
export function aliasMissing(path: string, switches: Switches): Answer | undefined {
  return isAlias(path) ? Object.entries(missing).find(([variant]) => switches.varied(variant))?.[1] : undefined
}
