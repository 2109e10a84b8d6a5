import { errors, jwtVerify } from 'jose'
import { targetFile } from '../declared/scenarios.ts'

/** The published secret of the reference: its keys stand in a file that everybody can read, and open nothing else. */
export const publishedSecret = 'a published secret of the embedded reference server'

/** Claims of a key about its holder. */
export interface Key {
  /** Objects belong to accounts; another account's are out of reach. */
  readonly account: string
  /** Operation ids, or `*` for all. */
  readonly permissions: readonly string[]
}

type Verified = Key | 'expired' | 'invalid'

const secret = new TextEncoder().encode(publishedSecret)

/** Facts that the text of a key fixes for good: whose it is and until when, or that it is none. */
type Read = { readonly key: Key; readonly expiresAt: number } | 'invalid'

/** Longest key that is remembered, in characters, and how many are. */
const longest = 4096
const most = 500
// The same keys are used thousands of times, good ones and bad ones: their signatures are checked once.
const seen = new Map<string, Read>()

function lasting(key: Key & { exp?: number }): Read {
  return { key, expiresAt: (key.exp ?? 0) * 1000 }
}

/** Gives what a failed verification says of a key for good; undefined if that may change with time. */
function whyNot(error: unknown): Read | undefined {
  if (error instanceof errors.JWTExpired) return lasting(error.payload as unknown as Key)
  return error instanceof errors.JWTClaimValidationFailed ? undefined : 'invalid'
}

async function read(token: string): Promise<Read | undefined> {
  try {
    return lasting((await jwtVerify<Key>(token, secret, { algorithms: ['HS256'], requiredClaims: ['exp'] })).payload)
  } catch (error) {
    return whyNot(error)
  }
}

/** Checks signature and expiry of a JWT (HS256). */
export async function verify(token: string): Promise<Verified> {
  const known = seen.get(token) ?? (await read(token))
  if (known === undefined) return 'invalid'
  if (seen.size < most && token.length <= longest) seen.set(token, known)
  if (known === 'invalid') return known
  return known.expiresAt > Date.now() ? known.key : 'expired'
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

/** Whether two payloads differ only in the time when the key expires. */
function differInExpiry(one: Claims, other: Claims): boolean {
  return JSON.stringify({ ...one, exp: 0 }) === JSON.stringify({ ...other, exp: 0 })
}

function hasExpired(claims: Claims): boolean {
  return Number(claims['exp']) * 1000 < Date.now()
}

/** Finds what happened to a key that is this one otherwise; undefined if they have nothing in common. */
function damageTo(key: string, token: string): string | undefined {
  if (key.startsWith(token)) return token.endsWith('.') ? 'no-signature' : 'cut'
  if (token.startsWith(key)) return token.startsWith(`${key}.`) ? 'fourth-part' : 'appended'
  if (token.toLowerCase() === key.toLowerCase()) return 'letter-case'
  const [header, payload, signature = ''] = token.split('.')
  const whole = key.split('.')
  if (header !== whole[0]) return payload === whole[1] && signature === whole[2] ? 'other-header' : undefined
  if (payload === whole[1]) {
    const isOther = genuine.some((other) => other !== key && other.endsWith(`.${signature}`))
    return isOther ? 'other-subject' : signature.startsWith(whole[2]?.[0] ?? '') ? 'signature-end' : 'signature'
  }
  const claims = decoded(whole[1])
  if (hasExpired(claims) && differInExpiry(claims, decoded(payload))) return 'moved-exp'
  return signature === whole[2] ? 'other-payload' : undefined
}

/** How an invalid key differs from a valid one: the kind of its fault. */
export function damageOf(token: string): string {
  const algorithm = decoded(token.split('.')[0])['alg']
  if (typeof algorithm === 'string' && algorithm.toLowerCase() === 'none') {
    const signature = token.split('.')[2]
    if (algorithm === 'NONE') return 'alg-none-capitals'
    return signature === undefined ? 'alg-none-cut' : signature === '' ? 'alg-none' : 'alg-none-signed'
  }
  for (const key of genuine) {
    const damage = damageTo(key, token)
    if (damage !== undefined) return damage
  }
  return 'other'
}
