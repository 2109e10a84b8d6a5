import { createPrivateKey, createPublicKey, sign } from 'node:crypto'

/**
 * A published private key that opens nothing. It signs a token that contains its own public key, which a server must
 * not trust. PKCS #8 in base64; constant, so that runs can be repeated.
 */
const readable = [
  'MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCzpAwYxcBuzj5od69+4nuYroToCF3Oq7JEd9wFKqHV',
  'nG1xjV8ezFpRwK9B47nzQUc6gNHJXJUUigt2geAflwND093kKLVkGyHP38btDYEYxTs/q74ELWVEEXTRTMY8M50h7MFN',
  'MvZnA2VrFhJHrMqtcraQrum5DEURM0L+7+/Und4zmF8+EvW802KjO29AlJLF9XM9bcSo+aAr3ziwoPW5avXJeFL4CQLt',
  'pQT6Ea3dfMn9+UB9Mvp60Ic8l1FF0ODrg18NUFYVE01XfU4Tb9ZSgFqj4OAzI7DK8HJau5aL3xrR7RXxPNwO1fCme6B0',
  'MDRCuEZx5p2Iwxxar/ackCuPAgMBAAECggEACZDQ8IfeUggtBwMRbGPRO7Vy4eEQK+9fuzPYfh+3CRHJkF0KXIXsUGqU',
  'BvcQf8xtoFU4K+mrDbJFAuGVy9/yRzpYCgVSsZycshbPidOB0aqEULbA6VDsLjHxi9cshWEIcIta40bRqecNSF2fLVkA',
  'zlSEi0/FF6kGtkWJ277D8wkBru7q9QfRqFpeizd0tTvrS9YFOCXCW0AvG+aKdJMsvwUMCdMVEDMR98rvv11ph8pAtxx7',
  '805SmGn7Ukba1kSubnVAr6PuaY+IjflzheaksXDhp7q1uxo9AnrpGDFz7gTeh51PcVhOG46Ax+2z7Yq+Wm+CPcIwbz2h',
  'f3T8QwBKgQKBgQDkea+ogsjNadQ6WqaRvXTdcBK4glcXZzD84ltvNT4BmPb7iB89UNYaNiBwrPBXe8kZEtWnZn4n6kO1',
  'zXF5O7lH/XOC9EAoOu+7y5l5Fopila4KiJj7ebhC7pUgI13S/U0kipZplHVu8ddEryCQJkYx0U3xLLYzr/9CP2YzmOFx',
  '7QKBgQDJSEaJlHvgMYLjzGE6N7MJJMEBax9tJni3qG6Vzj3zLu1+UM0aXjkj6OkYkQXR5FvSND7Ck0d+vJ6r45O7j0df',
  '+Fro6R+17RGtYHIh+pXn3SVrYhnIhSBeUlIgK8Su3CwaI6Zb/xiVQgUR3kwb/8OT/q29R3jsznlVCdvgjcgT6wKBgQCB',
  'C5oDe5sfKl8MdpcOSgvv5pUsUbIPLeGlc9RhA5l6HYOinkfGwhmrxFaeTY+SWgBDgTfbzTAEK3UDAn7NEsaburO7i2mR',
  'T3iIgX61vd17wT8EBBMkNqO0aj0gYdlkil0//mbmS0vo1f/Yc3HY+UU8bhOv3KksmIN8T4LSMc9kIQKBgEOtvan89zoG',
  '68/UpMyCdfyZExx6/HIjAWwfgi90zXe7S7exS4WWMPhWFCpieOZ+NjGTx5Z9FwkSOvfo6X+jSYiHZWnzGOp+7/av+zBZ',
  'pZX00eQtdCXsPVn5rAuNK/DvrxSK8CD2wTlOnY3IhSbU9NoKRDjkk1BsjHd/fSMgCSpJAoGBAKTuVT77IUfOIy7IOVNG',
  'BqMrIDz0swzupbIHPyMP+ow9KJHRkFG023MJD86UnLKVQgzck5ljjhljajmarGghaTVuxOmhUQUDKy/DRcLxJ639bZ3o',
  'hsXUqm3zO6Tum3HCArHd57p92UmQXu1t+fnSxpAVgdTY5ON1znkO53PDwg+z',
].join('')

const privateKey = createPrivateKey({
  key: Buffer.from(readable, 'base64'),
  format: 'der',
  type: 'pkcs8',
})

const publicJwk = createPublicKey(privateKey).export({ format: 'jwk' })

/** Cache of signed tokens: a run sends the same one to every operation. */
const signed = new Map<string, string>()

/** A token with that payload (base64url), whose header contains the verifying key (RFC 7515, 4.1.3). */
export function signedByOwnKey(header: Readonly<Record<string, unknown>>, payload: string): string {
  const whole = { ...header, alg: 'RS256', jwk: publicJwk }
  const head = Buffer.from(JSON.stringify(whole)).toString('base64url')
  const text = `${head}.${payload}`
  const token =
    signed.get(text) ??
    `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  signed.set(text, token)
  return token
}
