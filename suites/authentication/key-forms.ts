import type { Secret } from '../../harness/target-file/index.ts'
import { isObject } from '../../schemas/json.ts'
import { type InvalidKey, invalidKeys, type MalformedKey, malformedKeys } from '../../catalogue/faults.ts'
import type { Pairs } from '../../catalogue/requirement.ts'
import type { Credential } from '../../harness/engine/index.ts'

export interface MadeFrom {
  readonly full: Secret
  readonly expired?: Secret | undefined
  readonly restricted?: Secret | undefined
}

/** A JWT that nobody signed, and how it is made, in words. */
export interface Forgery {
  readonly value: string
  readonly words: string
}

/** The parts of a signed JWT (RFC 7519), its header and payload read. */
interface Parts {
  readonly header: Record<string, unknown>
  readonly payload: Record<string, unknown>
  /** Encoded parts as the key has them. */
  readonly own: { readonly header: string; readonly payload: string; readonly signature: string }
}

/** A day in 2100, in seconds: as far away for every run. */
const future = 4_102_444_800

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

function threeOf(key: string): Parts['own'] | undefined {
  const [header = '', payload = '', signature = '', ...more] = key.split('.')
  return signature === '' || more.length > 0 ? undefined : { header, payload, signature }
}

function partsOf(key: Secret | undefined): Parts | undefined {
  const own = key && threeOf(key.value)
  if (!own) return undefined
  const [header, payload] = [decoded(own.header), decoded(own.payload)]
  return header && payload && { header, payload, own }
}

const otherChar = (char: string): string => (/^a/i.test(char) ? 'B' : 'A')

/** The first character of the signature, changed to another letter: the last one may hold bits that nobody reads. */
const otherBeginning = (signature: string): string => otherChar(signature) + signature.slice(1)

/** Each character of its second half, changed. */
function otherEnd(signature: string): string {
  const half = Math.ceil(signature.length / 2)
  return signature.slice(0, half) + [...signature.slice(half)].map(otherChar).join('')
}

/** The header with each `alg` that asks for no signature, and what a key without one may have in its place. */
function unsigned({ header, own }: Parts): Partial<Record<InvalidKey, Forgery>> {
  const made: Partial<Record<string, Forgery>> = {}
  const thirds = { no: ['no', ''], empty: ['an empty', '.'], old: ['the old', `.${own.signature}`] }
  for (const alg of ['none', 'None', 'NONE']) {
    for (const [third, [called, end]] of Object.entries(thirds)) {
      const words = `the payload of the full key with alg ${alg} and ${called} signature`
      made[`alg ${alg}, ${third} signature`] = { value: `${encoded({ ...header, alg })}.${own.payload}${end}`, words }
    }
  }
  return made
}

/** Keys that a server accepts if it does not check a signature, or lets the key say how; none that needs a part that a key lacks. */
export function forgeries({ full, expired, restricted }: MadeFrom): Partial<Record<InvalidKey, Forgery>> {
  const three = threeOf(full.value)
  if (!three) return {}
  const signed = (signature: string, words: string): Forgery => ({
    value: `${three.header}.${three.payload}.${signature}`,
    words,
  })
  const made: Partial<Record<InvalidKey, Forgery>> = {
    'signature begins otherwise': signed(
      otherBeginning(three.signature),
      'the full key with the first character of its signature changed',
    ),
    'empty signature': signed('', 'the full key with an empty signature'),
    'a fourth part': signed(`${three.signature}.conform`, 'the full key and a fourth part'),
  }
  if (three.signature.length >= 4)
    made['signature ends otherwise'] = signed(
      otherEnd(three.signature),
      'the full key with the second half of its signature changed',
    )
  const parts = partsOf(full)
  if (!parts) return made
  const { header, payload, own } = parts
  return {
    ...made,
    ...unsigned(parts),
    ...ofOtherKeys(own.payload, partsOf(expired), partsOf(restricted)),
    'other payload': {
      value: `${own.header}.${encoded({ ...payload, conform: 'another payload' })}.${own.signature}`,
      words: 'another payload under the signature of the full key',
    },
    'other header': {
      value: `${encoded({ ...header, conform: 'another header' })}.${own.payload}.${own.signature}`,
      words: 'another header under the signature of the full key',
    },
  }
}

function ofOtherKeys(
  payload: string,
  old: Parts | undefined,
  restricted: Parts | undefined,
): Partial<Record<InvalidKey, Forgery>> {
  const made: Partial<Record<InvalidKey, Forgery>> = {}
  if (old && typeof old.payload['exp'] === 'number') {
    const moved = encoded({ ...old.payload, exp: future })
    const words = 'the expired key with its exp moved into the future under the old signature'
    made['expired key, exp moved'] = { value: `${old.own.header}.${moved}.${old.own.signature}`, words }
  }
  if (restricted) {
    const { header, signature } = restricted.own
    const words = 'the restricted key with the payload of the full key under its own signature'
    made['restricted key, full payload'] = { value: `${header}.${payload}.${signature}`, words }
  }
  return made
}

/** No `Authorization` header at all. */
export const noCredential: Credential = { shown: '', full: false }

/** A credential that is wrong in one way. */
export interface KeyForm {
  readonly kind: MalformedKey | InvalidKey
  readonly credential: Credential
  readonly what: string
  /** Pairs that answer it, if others than those of the requirement do. */
  readonly expects?: Pairs
}

/**
 * §5 does not say where a malformed key ends and one that was never issued begins: what has three parts, or all that stands
 * behind `Bearer`, may be taken for a key that nobody knows.
 */
const malformedOrUnknown: Pairs = [[401, 'BadCredentials', 'BadToken']]

/** Pairs that answer a word in place of a key; undefined: those of the requirement. */
export function givesOf(word: string): Pairs | undefined {
  return word.split('.').length === 3 ? malformedOrUnknown : undefined
}

/** A key in a header, and how both are written wherever they are shown. */
interface Written {
  readonly value: string
  readonly shown: string
  readonly what: string
}

function form(kind: KeyForm['kind'], { value, shown, what }: Written): KeyForm {
  return { kind, credential: { value, shown, full: false }, what }
}

const asIs = (value: string, what: string): Written => ({ value, shown: value, what })

/** Each operation gets one of them, in turn. */
const otherSchemes = ['Basic', 'Token']
/** Parts that no base64url has, and parts that can be decoded but hold no JSON: whoever reads the payload may stumble over either. */
const threeParts = ['not.a.jwt', 'bm90.YQ.and0']

/**
 * The valid key without a scheme, with others (one as long as `Bearer`) and without a blank after it, more text after the key,
 * `Bearer` alone or with null, a word that is no JWT, and one that only has three parts (§5, rules 1 and 2).
 */
export function malformedForms(full: Secret | undefined, number = 0): KeyForm[] {
  const scheme = otherSchemes[number % otherSchemes.length]
  const around = (before: string, after: string, what: string): Written | undefined =>
    full && {
      value: before + full.value + after,
      shown: before + full.label + after,
      what: `with the valid key${what}`,
    }
  const forms: Readonly<Record<MalformedKey, Written | undefined>> = {
    'no scheme': around('', '', ', but without the scheme Bearer'),
    'other scheme': around(`${scheme} `, '', ` under the scheme ${scheme}`),
    'six-letter scheme': around('ApiKey ', '', ' under the scheme ApiKey'),
    'no blank': around('Bearer', '', ', but without a blank after Bearer'),
    'text after the key': around('Bearer ', ' and more', ' and more words after it'),
    'Bearer alone': asIs('Bearer', 'with Bearer and no key'),
    'Bearer null': asIs('Bearer null', 'with Bearer null'),
    'no JWT': asIs('Bearer not-a-jwt', 'with a key that is not a JWT'),
    'three parts': asIs(
      `Bearer ${threeParts[number % threeParts.length]}`,
      'with a key of three parts that is not a JWT',
    ),
  }
  return malformedKeys.flatMap((kind) => {
    const made = forms[kind]
    if (made === undefined) return []
    const isEither = kind === 'three parts' || kind === 'text after the key'
    return [{ ...form(kind, made), ...(isEither ? { expects: malformedOrUnknown } : {}) }]
  })
}

/** The key in the other letter case; of a JWT the signature alone: nobody could read the rest. In other keys it may be hexadecimal. */
function inOtherCase(full: Secret): Forgery {
  const { value } = full
  const last = partsOf(full)?.own.signature ?? value
  const changed = [...last].map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()))
  return {
    value: value.slice(0, value.length - last.length) + changed.join(''),
    words:
      last === value ? 'the full key in the other letter case' : 'the full key, its signature in the other letter case',
  }
}

/** The declared keys: nothing that is made from one may equal another. */
interface DeclaredKeys extends MadeFrom {
  readonly all: ReadonlySet<string>
}

/** The key and how it is shown: the shell makes it from a variable, or it is said in words. */
function altered({ full }: MadeFrom): Partial<Record<InvalidKey, Forgery & { shown?: string }>> {
  const { value, label } = full
  const variable = /^\$(\w+)$/.exec(label)?.[1]
  const shown = (expansion: string) => (variable === undefined ? {} : { shown: expansion })
  return {
    cut: {
      value: value.length > 4 ? value.slice(0, -4) : '',
      words: 'the full key cut by 4 characters',
      ...shown(`\${${variable}%????}`),
    },
    lengthened: {
      value: `${value}xxxx`,
      words: 'the full key and 4 more characters',
      ...shown(`\${${variable}}xxxx`),
    },
    'other letter case': inOtherCase(full),
  }
}

/**
 * Keys that nobody issued, made from the declared ones: cut, lengthened, in another letter case, forged. One that equals
 * a declared key is left out, and so is one that needs a part which the key does not have.
 */
export function invalidForms({ all, ...declared }: DeclaredKeys): KeyForm[] {
  const made: Partial<Record<InvalidKey, Forgery & { shown?: string }>> = {
    ...altered(declared),
    ...forgeries(declared),
  }
  return invalidKeys.flatMap((kind) => {
    const { value = '', words = '', shown = `[${words}]` } = made[kind] ?? {}
    if (value === '' || all.has(value)) return []
    return [form(kind, { value: `Bearer ${value}`, shown: `Bearer ${shown}`, what: `with ${words}` })]
  })
}
