import { createHmac } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import { targetFile } from '../declared/scenarios.ts'
import type { HonoRequest } from 'hono'
import { kindsIf } from '../switches/defects.ts'

/** The published secret of the reference: its keys stand in a file that everybody can read, and open nothing else. */
export const publishedSecret = 'a published secret of the embedded reference server'

/** Claims of a key about its holder. */
export interface Key {
  /** Objects belong to accounts; another account's are out of reach. */
  readonly account: string
  /** Operation ids, or `*` for all. */
  readonly permissions: readonly string[]
}

const secret = new TextEncoder().encode(publishedSecret)

/** Facts that the text of a key fixes for good: whose it is and until when (`exp`, in s), or that it is none. */
type Read = (Key & { readonly exp: number }) | 'invalid'

/** Longest key that is remembered, in characters, and how many are. */
const longest = 4096
const most = 500
// The same keys are used thousands of times, good ones and bad ones: their signatures are checked once.
const seen = new Map<string, Read>()

/** Reads a key; undefined if it is none yet, which may change with time. */
async function read(token: string): Promise<Read | undefined> {
  try {
    return (
      await jwtVerify<Key & { exp: number }>(token, secret, {
        algorithms: ['HS256'],
        requiredClaims: ['exp'],
      })
    ).payload
  } catch (error) {
    if (error instanceof errors.JWTExpired) return error.payload as unknown as Read
    return error instanceof errors.JWTClaimValidationFailed ? undefined : 'invalid'
  }
}

/** Checks signature and expiry of a JWT (HS256). */
export async function verify(token: string): Promise<Key | 'expired' | 'invalid'> {
  const known = seen.get(token) ?? (await read(token))
  if (known !== undefined && seen.size < most && token.length <= longest) seen.set(token, known)
  if (known === undefined || known === 'invalid') return 'invalid'
  return known.exp * 1000 > Date.now() ? known : 'expired'
}

type Claims = Readonly<Record<string, unknown>>

/** The keys that are published with the reference. */
const genuine: readonly string[] = Object.values(targetFile.keys)

function decoded(part: string | undefined): Claims {
  try {
    return JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Claims
  } catch {
    return {}
  }
}

function differInExpiry(one: Claims, other: Claims): boolean {
  return JSON.stringify({ ...one, exp: 0 }) === JSON.stringify({ ...other, exp: 0 })
}

/** Finds what happened to a key that is this one otherwise; undefined if they have nothing in common. */
function damageTo(key: string, token: string): string | undefined {
  if (key.startsWith(token)) return token.endsWith('.') ? 'no-signature' : 'cut'
  if (token.startsWith(key)) return token.startsWith(`${key}.`) ? 'fourth-part' : 'appended'
  if (token.toLowerCase() === key.toLowerCase()) return 'letter-case'
  const [header, payload, signature = ''] = token.split('.')
  const whole = key.split('.')
  if (header !== whole[0])
    return payload === whole[1] && signature === whole[2] ? 'other-header' : undefined
  if (payload === whole[1]) {
    const isOther = genuine.some((other) => other !== key && other.endsWith(`.${signature}`))
    return isOther
      ? 'other-subject'
      : signature.startsWith(whole[2]?.[0] ?? '')
        ? 'signature-end'
        : 'signature'
  }
  const claims = decoded(whole[1])
  if (Number(claims['exp']) * 1000 < Date.now() && differInExpiry(claims, decoded(payload)))
    return 'moved-exp'
  return signature === whole[2] ? 'other-payload' : undefined
}

/** Algorithms of RFC 7518 for signatures, and that of RFC 8037. */
const algorithms = /^(?:[HREP]S(?:256|384|512)|EdDSA|none)$/i

/** What a forged header has a careless server do with the payload of a genuine key; undefined if it is no such thing. */
function forgeryBy(token: string): string | undefined {
  const [head = '', payload = '', signature = ''] = token.split('.')
  if (!genuine.some((key) => key.split('.')[1] === payload)) return undefined
  const { alg, jwk } = decoded(head)
  if (jwk !== undefined) return 'jwk'
  if (alg === undefined) return 'alg-absent'
  if (alg === 'nOnE') return 'alg-none-mixed'
  if (typeof alg !== 'string' || !algorithms.test(alg)) return 'alg-unknown'
  const byNothing = createHmac('sha256', '').update(`${head}.${payload}`).digest('base64url')
  return signature === byNothing ? 'empty-secret' : undefined
}

/** How an invalid key differs from a valid one: the kind of its fault. */
export function damageOf(token: string): string {
  const forgery = forgeryBy(token)
  if (forgery !== undefined) return forgery
  const algorithm = decoded(token.split('.')[0])['alg']
  if (typeof algorithm === 'string' && algorithm.toLowerCase() === 'none') {
    const signature = token.split('.')[2]
    if (algorithm === 'NONE') return 'alg-none-capitals'
    return signature === undefined
      ? 'alg-none-cut'
      : signature === ''
        ? 'alg-none'
        : 'alg-none-signed'
  }
  for (const key of genuine) {
    const damage = damageTo(key, token)
    if (damage !== undefined) return damage
  }
  return 'other'
}

/** Paths that the spec shows beside the usual one of an operation (§4.4). */
const aliases: ReadonlySet<string> = new Set(['/v1/chat', '/v1/vision', '/v1/tools/pdf-parser'])

export function isAlias(path: string): boolean {
  return aliases.has(path)
}

/** Places, beside the usual path and with its body, at which a request came: kinds of the faults of credentials. */
export function placeOf(request: HonoRequest): readonly string[] {
  const { path, method, url } = request
  return kindsIf({
    alias: isAlias(path),
    // Behind an id at its end the path is that of another object of the operation.
    'path-parameter': path.endsWith(';x'),
    suffix: path.endsWith('.json'),
    // The router decodes letters that need no encoding.
    'percent-encoded': /%[67]\w/.test(url),
    // The ids that the reference makes are in lower case.
    'uuid-case': /\/jobs\/[\dA-F-]*[A-F][\dA-F-]*$/.test(path),
    query: url.includes('?'),
    forwarded: request.header('x-forwarded-for') !== undefined,
    'no-user-agent': request.header('user-agent') === undefined,
    multipart: request.header('content-type')?.startsWith('multipart/') === true,
    'no-body': method === 'POST' && request.header('content-length') === '0',
  })
}

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
  const lower = parts
    .map((part) => (/^[A-Z-]+$|^V1$/.test(part) ? part.toLowerCase() : part))
    .join('/')
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
