import { expect, test } from 'vitest'
import { Redactor } from '../../harness/recording/redactor.ts'
import { invalidForms, type KeyForm } from '../../suites/authentication/key-forms.ts'

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const read = (text = ''): object => JSON.parse(Buffer.from(text, 'base64url').toString()) as object

const header = part({ alg: 'HS256', typ: 'JWT' })
const jwt = {
  value: `${header}.${part({ sub: 'somebody', exp: 4e9 })}.c2lnbmF0dXJlIG9mIHRoZSBmdWxsIGtleQ`,
  label: '$CONFORM_API_KEY',
}
const old = {
  value: `${header}.${part({ sub: 'somebody', exp: 1e9 })}.c2lnbmF0dXJlIG9mIHRoZSBvbGQga2V5`,
  label: '$CONFORM_KEY_EXPIRED',
}
const opaque = { value: '1234-5678-9012', label: '[redacted]' }

const forms = (full: typeof jwt, expired?: typeof jwt, more: readonly string[] = []): KeyForm[] =>
  invalidForms({ full, expired, all: new Set([full.value, ...(expired ? [expired.value] : []), ...more]) })

const keyOf = ({ credential }: KeyForm): string => (credential.value ?? '').replace(/^Bearer /, '')

test('seven keys that nobody issued are made from a JWT and one that has expired', () => {
  const made = forms(jwt, old).map((form) => keyOf(form))
  expect(new Set(made).size).toBe(7)
  const [cut, appended, otherCase, signature, payload, unsigned, moved] = made.map((key) => key.split('.'))
  expect(cut?.join('.')).toBe(jwt.value.slice(0, -4))
  expect(appended?.join('.')).toBe(`${jwt.value}xxxx`)
  expect(otherCase?.join('.').toLowerCase()).toBe(jwt.value.toLowerCase())
  expect([signature?.slice(0, 2), signature?.[2]?.slice(1)]).toEqual([
    jwt.value.split('.').slice(0, 2),
    jwt.value.split('.')[2]?.slice(1),
  ])
  expect(read(payload?.[1])).toMatchObject({ sub: 'somebody', exp: 4e9 })
  expect([payload?.[1] === jwt.value.split('.')[1], payload?.[2]]).toEqual([false, jwt.value.split('.')[2]])
  expect([read(unsigned?.[0]), unsigned?.[2]]).toEqual([{ alg: 'none', typ: 'JWT' }, ''])
  expect([read(moved?.[1]), moved?.[2]]).toEqual([{ sub: 'somebody', exp: 4_102_444_800 }, old.value.split('.')[2]])
})

test('what needs a part that the key lacks is left out, and what equals a declared key', () => {
  expect(forms(opaque).map((form) => keyOf(form))).toEqual(['1234-5678-', '1234-5678-9012xxxx'])
  expect(forms(opaque, undefined, ['1234-5678-'])).toHaveLength(1)
  expect(forms(jwt)).toHaveLength(6)
  expect(forms(jwt, opaque)).toHaveLength(6)
})

test('a form is shown as the shell can make it, or in words, and never as it is', () => {
  const redactor = new Redactor()
  redactor.add(jwt.value, jwt.label)
  redactor.add(old.value, old.label)
  for (const { credential } of forms(jwt, old)) {
    expect(credential.shown).toMatch(/^Bearer (\$\{CONFORM_API_KEY(%\?{4})?\}(xxxx)?|\[[\w ,]+\])$/)
    redactor.addDerived(keyOf({ credential, what: '' }), credential.shown)
  }
  for (const form of forms(jwt, old)) {
    const shown = redactor.text(`the key ${keyOf(form)} is unknown`)
    for (const key of [jwt, old]) {
      for (const secret of key.value.split('.').slice(1)) {
        for (let at = 0; at + 12 <= secret.length; at++) expect(shown).not.toContain(secret.slice(at, at + 12))
      }
    }
  }
})
