import { errors, jwtVerify } from 'jose'

/** The published secret of the reference: its keys stand in a file that everybody can read, and open nothing else. */
export const publishedSecret = 'a published secret of the embedded reference server'

/** What a key says about its holder. */
export interface Key {
  /** Objects belong to accounts; another account's are out of reach. */
  readonly account: string
  /** Operation ids, or `*` for all. */
  readonly permissions: readonly string[]
}

export type Verified = Key | 'expired' | 'invalid'

const secret = new TextEncoder().encode(publishedSecret)
// A few keys are used thousands of times; their signatures are checked once.
const seen = new Map<string, { key: Key; expiresAt: number }>()

/** Checks signature and expiry of a JWT (HS256). */
export async function verify(token: string): Promise<Verified> {
  const known = seen.get(token)
  if (known) return known.expiresAt > Date.now() ? known.key : 'expired'
  try {
    const { payload } = await jwtVerify<Key>(token, secret, { algorithms: ['HS256'], requiredClaims: ['exp'] })
    if (seen.size < 100) seen.set(token, { key: payload, expiresAt: (payload.exp ?? 0) * 1000 })
    return payload
  } catch (error) {
    return error instanceof errors.JWTExpired ? 'expired' : 'invalid'
  }
}
