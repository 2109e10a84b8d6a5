import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { DeclaredKeys } from '../../harness/client/index.ts'
import type { Secret } from '../../harness/target/index.ts'
import { isObject } from '../../schemas/json.ts'
import {
  type InvalidKey,
  invalidKeys,
  type MalformedKey,
  malformedKeys,
} from '../../catalogue/faults.ts'
import type { Pairs } from '../../catalogue/answers.ts'
import type { Credential } from '../../harness/journal/index.ts'

export const noCredential: Credential = { shown: '', full: false }

export interface KeyForm {
  readonly kind: MalformedKey | InvalidKey
  readonly credential: Credential
  readonly what: string
  /** Accepted pairs, if different from the requirement's. */
  readonly expects?: Pairs | undefined
}

/**
 * §5 does not distinguish malformed keys from unknown ones: a key with three parts, with the beginning of a JWT, or
 * anything after `Bearer` may count as an unknown key.
 */
const malformedOrUnknown: Pairs = [[401, 'BadCredentials', 'BadToken']]

/** Accepted pairs for a word in place of a key; undefined: the requirement's. */
export function givesOf(word: string): Pairs | undefined {
  return word.split('.').length === 3 || /^eyj/i.test(word) ? malformedOrUnknown : undefined
}

/**
 * Parts that are not base64url, and parts that decode to something other than JSON: payload readers may fail on either.
 */
const threeParts = ['not.a.jwt', 'bm90.YQ.and0']

/**
 * Malformed keys (§5, rules 1 and 2): no scheme, other schemes (one as long as `Bearer`, one with the key as a user name),
 * no blank, text after the key, `Bearer` alone or with null, a word, three parts.
 */
export function malformedForms(full: Secret | undefined, number = 0): KeyForm[] {
  const under = (scheme: string): readonly [string, string] => [
    `${scheme} *`,
    `with the valid key under the scheme ${scheme}`,
  ]
  const forms: Readonly<Record<MalformedKey, readonly [header: string, what: string]>> = {
    'no scheme': ['*', 'with the valid key, but without the scheme Bearer'],
    'scheme Basic': under('Basic'),
    'scheme Token': under('Token'),
    'scheme JWT': under('JWT'),
    'scheme ApiKey': under('ApiKey'),
    'Basic in base64': ['Basic *', 'with the valid key in base64 under the scheme Basic'],
    'no blank': ['Bearer*', 'with the valid key, but without a space after Bearer'],
    'text after the key': ['Bearer * and more', 'with the valid key and more words after it'],
    'Bearer alone': ['Bearer', 'with Bearer and no key'],
    'Bearer null': ['Bearer null', 'with Bearer null'],
    'no JWT': ['Bearer not-a-jwt', 'with a key that is not a JWT'],
    'three parts': [
      `Bearer ${threeParts[number % threeParts.length]}`,
      'with a key of three parts that is not a JWT',
    ],
  }
  return malformedKeys.flatMap((kind): KeyForm[] => {
    const [header, what] = forms[kind]
    if (header.includes('*') && full === undefined) return []
    const written = (key = ''): string => header.replace('*', () => key)
    const isEither = kind === 'three parts' || kind === 'text after the key'
    const isEncoded = kind === 'Basic in base64'
    const value = written(isEncoded ? encodedUser(full!.value) : full?.value)
    const shown = written(isEncoded ? '[the full key and a colon, in base64]' : full?.label)
    const credential = { value, shown, full: false }
    return [{ kind, credential, what, expects: isEither ? malformedOrUnknown : undefined }]
  })
}

/** RFC 7617: a user name without a password. */
const encodedUser = (name: string): string => Buffer.from(`${name}:`).toString('base64')

/** The parts of a signed JWT (RFC 7519); undefined for other keys. */
function partsOf(
  key: Secret | undefined,
): readonly [header: string, payload: string, signature: string] | undefined {
  const [header = '', payload = '', signature = '', ...more] = key?.value.split('.') ?? []
  return signature === '' || more.length > 0 ? undefined : [header, payload, signature]
}

function decoded(part: string): Record<string, unknown> | undefined {
  // Most keys have no parts, and an exception takes long.
  if (part === '') return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function encoded(part: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

const otherChar = (char: string): string => (/^a/i.test(char) ? 'B' : 'A')

function inOtherCase(text: string): string {
  return [...text]
    .map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()))
    .join('')
}

/** A day in 2100, in seconds: constant, so that runs can be repeated. */
const future = 4_102_444_800

interface Declared extends DeclaredKeys {
  readonly full: Secret
  /** The operation's number, which varies cut and added lengths; default 0. */
  readonly number?: number
}

/** Characters to remove and append: base64 decoders may fail on some lengths, so all are covered. */
function countsAt(number: number): readonly [cut: number, added: number] {
  return number % 2 === 0 ? [4, 4] : [6, 2]
}

function* forgeries({
  full,
  expired,
  restricted,
  number = 0,
}: Declared): Generator<[kind: string, words: string, value: string]> {
  const [cut, added] = countsAt(number)
  yield ['cut', `the full key cut by ${cut} characters`, full.value.slice(0, -cut)]
  yield ['lengthened', `the full key and ${added} more characters`, full.value + 'x'.repeat(added)]
  const [head = '', body = '', signature = ''] = partsOf(full) ?? []
  const [header, payload] = [decoded(head), decoded(body)]
  const isRead = header !== undefined && payload !== undefined
  // For a JWT only the signature, since the rest would be unreadable. Other keys may be hexadecimal.
  yield isRead
    ? [
        'other letter case',
        'the full key, its signature in the other letter case',
        `${head}.${body}.${inOtherCase(signature)}`,
      ]
    : ['other letter case', 'the full key in the other letter case', inOtherCase(full.value)]
  if (signature === '') return
  const signed = (kind: string, words: string, other: string): [string, string, string] => [
    kind,
    `the full key ${words}`,
    `${head}.${body}.${other}`,
  ]
  const half = Math.ceil(signature.length / 2)
  const otherEnd = signature.slice(0, half) + [...signature.slice(half)].map(otherChar).join('')
  // The first character: the last one may contain unused bits.
  const otherBeginning = otherChar(signature) + signature.slice(1)
  yield signed(
    'signature begins otherwise',
    'with the first character of its signature changed',
    otherBeginning,
  )
  if (signature.length >= 4)
    yield signed(
      'signature ends otherwise',
      'with the second half of its signature changed',
      otherEnd,
    )
  yield signed('empty signature', 'with an empty signature', '')
  yield signed('a fourth part', 'and a fourth part', `${signature}.conform`)
  if (!isRead) return
  const thirds = { no: ['no', ''], empty: ['an empty', '.'], old: ['the old', `.${signature}`] }
  for (const alg of ['none', 'None', 'NONE']) {
    for (const [third, [called, end]] of Object.entries(thirds)) {
      const words = `the payload of the full key with alg ${alg} and ${called} signature`
      yield [
        `alg ${alg}, ${third} signature`,
        words,
        `${encoded({ ...header, alg })}.${body}${end}`,
      ]
    }
  }
  const withAlg = (alg: string | undefined): string => `${encoded({ ...header, alg })}.${body}`
  const ofPayload = 'the payload of the full key'
  yield [
    'alg nOnE, empty signature',
    `${ofPayload} with alg nOnE and an empty signature`,
    `${withAlg('nOnE')}.`,
  ]
  yield ['alg unknown', `${ofPayload} with an unknown alg`, `${withAlg('XX256')}.${signature}`]
  yield ['alg absent', `${ofPayload} without alg`, `${withAlg(undefined)}.${signature}`]
  const unsigned = withAlg('HS256')
  const byNothing = createHmac('sha256', '').update(unsigned).digest('base64url')
  yield ['empty secret', `${ofPayload} signed with the empty secret`, `${unsigned}.${byNothing}`]
  yield [
    'key in its header',
    `${ofPayload} signed by a key in its own header`,
    signedByOwnKey(header, body),
  ]
  yield [
    'secret in its header',
    `${ofPayload} signed by a secret in its own header`,
    signedByOwnSecret(header, body),
  ]
  const [otherHeader, otherPayload] = [
    { ...header, conform: 'another header' },
    { ...payload, conform: 'another payload' },
  ]
  const under = 'under the signature of the full key'
  yield [
    'other payload',
    `another payload ${under}`,
    `${head}.${encoded(otherPayload)}.${signature}`,
  ]
  yield ['other header', `another header ${under}`, `${encoded(otherHeader)}.${body}.${signature}`]
  const [oldHead = '', oldBody = '', oldSignature] = partsOf(expired) ?? []
  const old = decoded(oldBody)
  if (decoded(oldHead) && typeof old?.['exp'] === 'number') {
    const words = 'the expired key with its exp moved into the future under the old signature'
    yield [
      'expired key, exp moved',
      words,
      `${oldHead}.${encoded({ ...old, exp: future })}.${oldSignature}`,
    ]
  }
  const [lowHead = '', lowBody = '', lowSignature] = partsOf(restricted) ?? []
  if (decoded(lowHead) && decoded(lowBody)) {
    const words = 'the restricted key with the payload of the full key under its own signature'
    yield ['restricted key, full payload', words, `${lowHead}.${body}.${lowSignature}`]
  }
}

const expansions: Readonly<Record<string, (variable: string, number: number) => string>> = {
  cut: (variable, number) => `\${${variable}%${'?'.repeat(countsAt(number)[0])}}`,
  lengthened: (variable, number) => `\${${variable}}${'x'.repeat(countsAt(number)[1])}`,
}

/**
 * Invalid keys made from declared ones: shortened, lengthened, in other letter case, forged. Excludes those that equal
 * a declared key or need a missing part.
 */
export function invalidForms(declared: Declared): KeyForm[] {
  const made = [...forgeries(declared)]
  const [, variable] = /^\$(\w+)$/.exec(declared.full.label) ?? []
  return invalidKeys.flatMap((kind): KeyForm[] => {
    const [, words = '', value = ''] = made.find(([of]) => of === kind) ?? []
    if (value === '' || declared.all.has(value)) return []
    const expand = variable === undefined ? undefined : expansions[kind]
    const credential = {
      value: `Bearer ${value}`,
      shown: `Bearer [${words}]`,
      full: false,
      ...(expand && { inShell: `Bearer ${expand(variable!, declared.number ?? 0)}` }),
    }
    return [{ kind, credential, what: `with ${words}` }]
  })
}

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

/** The same with a secret, for a server that knows no other keys. */
function signedByOwnSecret(header: Readonly<Record<string, unknown>>, payload: string): string {
  const secret = Buffer.from('a secret of the suite')
  const jwk = { kty: 'oct', k: secret.toString('base64url') }
  const head = Buffer.from(JSON.stringify({ ...header, alg: 'HS256', jwk })).toString('base64url')
  const text = `${head}.${payload}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
