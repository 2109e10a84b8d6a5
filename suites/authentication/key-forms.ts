import type { Credential } from '../../harness/engine/probe.ts'
import { type DeclaredKey, forgeries } from './forgeries.ts'

/** A credential that is wrong in one way. */
export interface KeyForm {
  readonly credential: Credential
  readonly what: string
}

function form(value: string, shown: string, what: string): KeyForm {
  return { credential: { value, shown, full: false }, what }
}

/** The valid key without a scheme and with another one, `Bearer` alone, a word that is no JWT (§5, rules 1 and 2). */
export function malformedForms(full: DeclaredKey | undefined): KeyForm[] {
  return [
    ...(full === undefined
      ? []
      : [
          form(full.value, full.label, 'with the valid key, but without the scheme Bearer'),
          form(`Basic ${full.value}`, `Basic ${full.label}`, 'with the valid key under the scheme Basic'),
        ]),
    form('Bearer', 'Bearer', 'with Bearer and no key'),
    form('Bearer not-a-jwt', 'Bearer not-a-jwt', 'with a key that is not a JWT'),
  ]
}

function otherCase(full: string): string {
  return [...full].map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase())).join('')
}

/** What keys are declared: nothing that is made from one may equal another. */
export interface DeclaredKeys {
  readonly full: DeclaredKey
  readonly expired: DeclaredKey | undefined
  readonly all: ReadonlySet<string>
}

/**
 * Keys that nobody issued, made from the declared ones: cut, lengthened, in another letter case, forged. One that equals
 * a declared key is left out, and so is one that needs a part which the key does not have.
 */
export function invalidForms({ full, expired, all }: DeclaredKeys): KeyForm[] {
  const { value, label } = full
  // A variable is expanded by the shell that runs the curl line; anything else is said in words.
  const variable = /^\$(\w+)$/.exec(label)?.[1]
  const shown = (expansion: string, words: string): string => (variable === undefined ? `[${words}]` : expansion)
  const forms: readonly (readonly [value: string, shown: string, what: string])[] = [
    [
      value.length > 4 ? value.slice(0, -4) : '',
      shown(`\${${variable}%????}`, 'the full key cut by 4 characters'),
      'with the full key cut by 4 characters',
    ],
    [
      `${value}xxxx`,
      shown(`\${${variable}}xxxx`, 'the full key and 4 characters more'),
      'with the full key and 4 more characters',
    ],
    [otherCase(value), '[the full key in the other letter case]', 'with the full key in the other letter case'],
    ...forgeries(full, expired).map(({ value: forged, words }) => [forged, `[${words}]`, `with ${words}`] as const),
  ]
  return forms
    .filter(([made]) => made !== '' && !all.has(made))
    .map(([made, as, what]) => form(`Bearer ${made}`, `Bearer ${as}`, what))
}
