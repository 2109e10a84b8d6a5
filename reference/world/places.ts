import type { HonoRequest } from 'hono'
import type { Switches } from '../switches/switches.ts'
import { type Answer, envelope, page } from './answer.ts'
import { verify } from './keys.ts'

/** Paths that the spec shows beside the usual one of an operation (§4.4). */
const aliases: ReadonlySet<string> = new Set(['/v1/chat', '/v1/vision', '/v1/tools/pdf-parser'])

/** Answers there of a server that has only the usual paths. */
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

/** Where, beside the usual path and with its body, a request came: kinds of the faults of credentials. */
export function placeOf(request: HonoRequest): readonly string[] {
  const { path, method } = request
  return [
    ...(isAlias(path) ? ['alias'] : []),
    // Behind an id at its end the path is that of another object of the operation.
    ...(path.endsWith(';x') ? ['path-parameter'] : []),
    ...(path.endsWith('.json') ? ['suffix'] : []),
    // The router decodes letters that need no encoding.
    ...(/%[67]\w/.test(request.url) ? ['percent-encoded'] : []),
    ...(request.url.includes('?') ? ['query'] : []),
    ...(method === 'POST' && request.header('content-length') === '0' ? ['no-body'] : []),
  ]
}

/** A path in another spelling, as a lenient router would read it. */
interface Spelling {
  readonly kind: string
  readonly path: string
}

/** How lenient routers read a path that is none of ours; undefined if it is the usual spelling. */
export function spellingOf(path: string): Spelling | undefined {
  if (path.includes('//')) return { kind: 'double-slash', path: path.replaceAll('//', '/') }
  if (path.endsWith('/')) return { kind: 'slash', path: path.slice(0, -1) }
  if (path.endsWith(';x')) return { kind: 'path-parameter', path: path.slice(0, -2) }
  if (path.endsWith('.json')) return { kind: 'suffix', path: path.slice(0, -5) }
  const parts = path.split('/')
  // Ids have digits; what has none is a word of the path.
  const lower = parts.map((part) => (/^[A-Z-]+$|^V1$/.test(part) ? part.toLowerCase() : part)).join('/')
  return lower === path ? undefined : { kind: 'upper-case', path: lower }
}

/** The requirement that a request's credential is a case of; undefined if the key is good for everything. */
export async function credentialFault(header: string | undefined): Promise<string | undefined> {
  if (header === undefined) return '401-missing-credentials'
  const token = header.replace(/^Bearer /, '')
  if (!/^eyJ\S+$/i.test(token)) return '401-malformed-key'
  const key = await verify(token)
  if (typeof key === 'string') return `401-${key}-key`
  return key.permissions.includes('*') ? undefined : '403-insufficient-rights'
}
