import { targetFile } from '../declared/fixtures.ts'

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

/** Whether two payloads say the same but for the time when the key expires. */
function differInExpiry(one: Claims, other: Claims): boolean {
  return JSON.stringify({ ...one, exp: 0 }) === JSON.stringify({ ...other, exp: 0 })
}

function hasExpired(claims: Claims): boolean {
  return Number(claims['exp']) * 1000 < Date.now()
}

/** What happened to a key that is otherwise this one; undefined if it has nothing of it. */
function damageTo(key: string, token: string): string | undefined {
  if (key.startsWith(token)) return 'cut'
  if (token.startsWith(key)) return 'appended'
  if (token.toLowerCase() === key.toLowerCase()) return 'letter-case'
  const [header, payload, signature] = token.split('.')
  const whole = key.split('.')
  if (header !== whole[0]) return undefined
  if (payload === whole[1]) return 'signature'
  const claims = decoded(whole[1])
  if (hasExpired(claims) && differInExpiry(claims, decoded(payload))) return 'moved-exp'
  return signature === whole[2] ? 'other-payload' : undefined
}

/** How an invalid key differs from a valid one: the kind of its fault. */
export function damageOf(token: string): string {
  const algorithm = decoded(token.split('.')[0])['alg']
  if (typeof algorithm === 'string' && algorithm.toLowerCase() === 'none') return 'alg-none'
  for (const key of genuine) {
    const damage = damageTo(key, token)
    if (damage !== undefined) return damage
  }
  return 'other'
}
