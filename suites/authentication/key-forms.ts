import { createHmac } from 'node:crypto'
import { signedByOwnKey } from './own-key.ts'
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

/** Each operation gets one per seed; the last one has the key as its user name. */
const otherSchemes = ['Basic', 'Token', 'JWT', 'Basic in base64']
/**
 * Parts that are not base64url, and parts that decode to something other than JSON: payload readers may fail on either.
 */
const threeParts = ['not.a.jwt', 'bm90.YQ.and0']

/**
 * Malformed keys (§5, rules 1 and 2): no scheme, other schemes (one as long as `Bearer`), no blank, text after the key,
 * `Bearer` alone or with null, a word, three parts.
 */
export function malformedForms(full: Secret | undefined, number = 0): KeyForm[] {
  const scheme = otherSchemes[number % otherSchemes.length]
  const forms: Readonly<Record<MalformedKey, readonly [header: string, what: string]>> = {
    'no scheme': ['*', 'with the valid key, but without the scheme Bearer'],
    'other scheme': [`${scheme} *`, `with the valid key under the scheme ${scheme}`],
    'six-letter scheme': ['ApiKey *', 'with the valid key under the scheme ApiKey'],
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
    const isEncoded = header.startsWith('Basic in base64')
    const credential = isEncoded
      ? {
          value: basic(full?.value),
          shown: 'Basic [the full key and a colon, in base64]',
          full: false,
        }
      : { value: written(full?.value), shown: written(full?.label), full: false }
    return [{ kind, credential, what, expects: isEither ? malformedOrUnknown : undefined }]
  })
}

/** RFC 7617: a user name without a password. */
const basic = (name = ''): string => `Basic ${Buffer.from(`${name}:`).toString('base64')}`

/** The parts of a signed JWT (RFC 7519); undefined for other keys. */
function partsOf(
  key: Secret | undefined,
): readonly [header: string, payload: string, signature: string] | undefined {
  const [header = '', payload = '', signature = '', ...more] = key?.value.split('.') ?? []
  return signature === '' || more.length > 0 ? undefined : [header, payload, signature]
}

function decoded(part: string): Record<string, unknown> | undefined {
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

interface Declared {
  readonly full: Secret
  readonly expired?: Secret | undefined
  readonly restricted?: Secret | undefined
  readonly all: ReadonlySet<string>
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
      ...{ value: `Bearer ${value}`, shown: `Bearer [${words}]`, full: false },
      ...(expand && { inShell: `Bearer ${expand(variable!, declared.number ?? 0)}` }),
    }
    return [{ kind, credential, what: `with ${words}` }]
  })
}
