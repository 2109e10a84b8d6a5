import { errors, jwtVerify } from 'jose'

/** The published secret of the reference: its keys are public, and open nothing else. */
export const publishedSecret = 'a published secret of the embedded reference server'

export interface Key {
  readonly account: string
  readonly permissions: readonly string[]
}

const secret = new TextEncoder().encode(publishedSecret)

/** The permanent properties of a key: its claims and expiry (`exp`, in s), or that it is invalid. */
type Read = (Key & { readonly exp: number }) | 'invalid'

const longest = 4096
const most = 500
// The same keys are used thousands of times, so each signature is checked once.
const seen = new Map<string, Read>()

/** Reads a key; undefined if it is not valid yet, which may change with time. */
async function read(token: string): Promise<Read | undefined> {
  try {
    const claims = { algorithms: ['HS256'], requiredClaims: ['exp'] }
    return (await jwtVerify<Key & { exp: number }>(token, secret, claims)).payload
  } catch (error) {
    if (error instanceof errors.JWTExpired) return error.payload as unknown as Read
    return error instanceof errors.JWTClaimValidationFailed ? undefined : 'invalid'
  }
}

export async function verify(token: string): Promise<Key | 'expired' | 'invalid'> {
  const known = seen.get(token) ?? (await read(token))
  if (known !== undefined && seen.size < most && token.length <= longest) seen.set(token, known)
  if (known === undefined || known === 'invalid') return 'invalid'
  return known.exp * 1000 > Date.now() ? known : 'expired'
}

export function isAlias(path: string): boolean {
  return ['/v1/chat', '/v1/vision', '/v1/tools/pdf-parser'].includes(path)
}

/** The path as lenient routers read it; undefined for the usual spelling. */
export function usualSpelling(path: string): string | undefined {
  if (path.includes('//')) return path.replaceAll('//', '/')
  if (/\/$|;x$|\.json$/.test(path)) return path.replace(/\/$|;x$|\.json$/, '')
  // Ids contain digits; segments without digits are words of the path.
  const lower = path.replaceAll(/(?<=\/)(?:[A-Z-]+|V1)(?=\/|$)/g, (part) => part.toLowerCase())
  return lower === path ? undefined : lower
}
