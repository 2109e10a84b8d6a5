import type { Credential } from '../../harness/engine/probe.ts'

/** The full key, and how it is written wherever it is shown. */
export interface FullKey {
  readonly value: string
  readonly label: string
}

/** A credential that is wrong in one way. */
export interface KeyForm {
  readonly credential: Credential
  readonly what: string
}

function form(value: string, shown: string, what: string): KeyForm {
  return { credential: { value, shown, full: false }, what }
}

/** The valid key without a scheme and with another one, `Bearer` alone, a word that is no JWT (§5, rules 1 and 2). */
export function malformedForms(full: FullKey | undefined): KeyForm[] {
  return [
    ...(full === undefined
      ? []
      : [
          form(full.value, full.label, 'with the valid key, but without the scheme Bearer'),
          form(`Basic ${full.value}`, `Basic ${full.label}`, 'with the valid key under the scheme Basic'),
        ]),
    form('Bearer', 'Bearer', 'with Bearer and no key'),
    form('Bearer not-a-jwt', 'Bearer not-a-jwt', 'with a key that is no JWT'),
  ]
}

/** The first character of a JWT's signature, changed within its alphabet; undefined where the key has no third part. */
function otherSignature(full: string): string | undefined {
  const [header, payload, signature, ...more] = full.split('.')
  if (!header || !payload || !signature || more.length > 0) return undefined
  return `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
}

function otherCase(full: string): string {
  return [...full].map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase())).join('')
}

/** The full key cut, lengthened, in another letter case, with another signature: those that differ from every declared key. */
export function invalidForms({ value: full, label }: FullKey, declared: ReadonlySet<string>): KeyForm[] {
  const variable = /^\$(\w+)$/.exec(label)?.[1]
  const expansion = (suffix: string, words: string): string =>
    variable === undefined ? `[the full key ${words}]` : `\${${variable}${suffix}}`
  const signature = otherSignature(full)
  const forms: readonly [string | undefined, string, string][] = [
    [
      full.length > 4 ? full.slice(0, -4) : undefined,
      expansion('%????', 'cut by 4 characters'),
      'with the full key cut by 4 characters',
    ],
    [
      `${full}xxxx`,
      variable === undefined ? '[the full key and xxxx]' : `${expansion('', '')}xxxx`,
      'with the full key and 4 characters more',
    ],
    [otherCase(full), `[${label} in the other letter case]`, 'with the full key in the other letter case'],
    [signature, `[${label} with another first character of its signature]`, 'with another signature'],
  ]
  return forms
    .filter(([value]) => value !== undefined && !declared.has(value))
    .map(([value, shown, what]) => form(`Bearer ${value}`, `Bearer ${shown}`, what))
}
