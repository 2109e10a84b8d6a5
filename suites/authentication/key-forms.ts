import { invalidKeys, type InvalidKey, type MalformedKey, malformedKeys } from '../../catalogue/faults.ts'
import type { Pairs } from '../../catalogue/pairs.ts'
import type { Credential } from '../../harness/engine/probe.ts'
import { type DeclaredKey, forgeries, type Forgery, type MadeFrom } from './forgeries.ts'

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

/**
 * The valid key without a scheme, with others (one as long as `Bearer`) and without a blank after it, more text after the key,
 * `Bearer` alone or with null, a word that is no JWT, and one that only has three parts (§5, rules 1 and 2).
 */
export function malformedForms(full: DeclaredKey | undefined, number = 0): KeyForm[] {
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
    'three parts': asIs('Bearer not.a.jwt', 'with a key of three parts that is not a JWT'),
  }
  return malformedKeys.flatMap((kind) => {
    const made = forms[kind]
    if (made === undefined) return []
    const isEither = kind === 'three parts' || kind === 'text after the key'
    return [{ ...form(kind, made), ...(isEither ? { expects: malformedOrUnknown } : {}) }]
  })
}

function otherCase(full: string): string {
  return [...full].map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase())).join('')
}

/** The declared keys: nothing that is made from one may equal another. */
interface DeclaredKeys extends MadeFrom {
  readonly all: ReadonlySet<string>
}

/** The key and how it is shown: the shell makes it from a variable, or it is said in words. */
function altered({ full: { value, label } }: MadeFrom): Partial<Record<InvalidKey, Forgery & { shown?: string }>> {
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
    'other letter case': { value: otherCase(value), words: 'the full key in the other letter case' },
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
