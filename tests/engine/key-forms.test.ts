import { createHmac, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { Redactor } from '../../harness/recording/redactor.ts'
import { invalidKeys } from '../../catalogue/faults.ts'
import { givesOf, invalidForms, type KeyForm } from '../../suites/authentication/key-forms.ts'

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

const low = {
  value: `${part({ alg: 'HS256', kid: 'low' })}.${part({ sub: 'nobody', exp: 4e9 })}.c2lnbmF0dXJlIG9mIHRoZSBsb3cga2V5`,
  label: '$CONFORM_KEY_RESTRICTED',
}

function forms(
  full: typeof jwt,
  expired?: typeof jwt,
  restricted?: typeof jwt,
  more: readonly string[] = [],
) {
  const declared = [full, expired, restricted].flatMap((key) => (key ? [key.value] : []))
  return invalidForms({ full, expired, restricted, all: new Set([...declared, ...more]) })
}

const keyOf = ({ credential }: Pick<KeyForm, 'credential'>): string =>
  (credential.value ?? '').replace(/^Bearer /, '')

test('a word of three parts, or that begins like a JWT, may be taken for a key that nobody knows', () => {
  const takenFor = (word: string): boolean => givesOf(word)?.flat().includes('BadToken') === true
  expect(['not.a.jwt', 'eyJx', 'eYJd$.{}', 'a.b', 'not-a-jwt', 'xeyJ'].map(takenFor)).toEqual([
    ...[true, true, true],
    ...[false, false, false],
  ])
})

test('each kind of key that nobody issued is made from a JWT, one that has expired and one without rights', () => {
  const made = forms(jwt, old, low)
  expect(made.map(({ kind }) => kind)).toEqual(invalidKeys)
  expect(new Set(made.map(keyOf)).size).toBe(invalidKeys.length)
  const parts = Object.fromEntries(made.map((form) => [form.kind, keyOf(form).split('.')]))
  const [head = '', body = '', signature = ''] = jwt.value.split('.')
  expect(parts['cut']?.join('.')).toBe(jwt.value.slice(0, -4))
  expect(parts['lengthened']?.join('.')).toBe(`${jwt.value}xxxx`)
  expect(parts['other letter case']?.slice(0, 2)).toEqual([head, body])
  expect(parts['other letter case']?.[2]?.toLowerCase()).toBe(signature.toLowerCase())
  const begun = parts['signature begins otherwise']
  expect([begun?.slice(0, 2), begun?.[2]?.slice(1)]).toEqual([[head, body], signature.slice(1)])
  const half = Math.ceil(signature.length / 2)
  const ended = parts['signature ends otherwise']
  expect([ended?.slice(0, 2), ended?.[2]?.slice(0, half)]).toEqual([
    [head, body],
    signature.slice(0, half),
  ])
  expect([...(ended?.[2] ?? '')].filter((char, at) => char === signature[at])).toHaveLength(half)
  expect(read(parts['other payload']?.[1])).toMatchObject({ sub: 'somebody', exp: 4e9 })
  expect([parts['other payload']?.[1] === body, parts['other payload']?.[2]]).toEqual([
    false,
    signature,
  ])
  expect(read(parts['other header']?.[0])).toMatchObject({ alg: 'HS256' })
  expect([parts['other header']?.[0] === head, ...(parts['other header'] ?? []).slice(1)]).toEqual([
    false,
    body,
    signature,
  ])
  for (const alg of ['none', 'None']) {
    const unsigned = ['no', 'empty', 'old'].map((third) => parts[`alg ${alg}, ${third} signature`])
    expect(unsigned.map((own) => [read(own?.[0]), own?.[1]])).toEqual(
      unsigned.map(() => [{ alg, typ: 'JWT' }, body]),
    )
    expect(unsigned.map((own) => own?.[2])).toEqual([undefined, '', signature])
  }
  expect(read(parts['alg unknown']?.[0])).toMatchObject({ typ: 'JWT' })
  expect(read(parts['alg absent']?.[0])).toEqual({ typ: 'JWT' })
  const byNothing = parts['empty secret'] ?? []
  expect(byNothing[2]).toBe(
    createHmac('sha256', '').update(byNothing.slice(0, 2).join('.')).digest('base64url'),
  )
  const [ownHead, ownBody, ownSignature = ''] = parts['key in its header'] ?? []
  const { jwk } = read(ownHead) as { jwk: JsonWebKey }
  const isSigned = verify(
    'sha256',
    Buffer.from(`${ownHead}.${ownBody}`),
    createPublicKey({ key: jwk, format: 'jwk' }),
    Buffer.from(ownSignature, 'base64url'),
  )
  expect([ownBody === body, isSigned, 'd' in jwk]).toEqual([true, true, false])
  const moved = parts['expired key, exp moved']
  expect([read(moved?.[1]), moved?.[2]]).toEqual([
    { sub: 'somebody', exp: 4_102_444_800 },
    old.value.split('.')[2],
  ])
  const raised = [low.value.split('.')[0], body, low.value.split('.')[2]]
  expect(parts['restricted key, full payload']).toEqual(raised)
})

test('keys are cut and lengthened by other counts in turn, as the shell can do it', () => {
  const made = invalidForms({ full: jwt, all: new Set(), number: 3 }).slice(0, 2)
  expect(made.map(keyOf)).toEqual([jwt.value.slice(0, -6), `${jwt.value}xx`])
  expect(made.map(({ credential }) => credential.shown).join()).not.toContain('$')
  expect(made.map(({ credential }) => credential.inShell)).toEqual([
    'Bearer ${CONFORM_API_KEY%??????}',
    'Bearer ${CONFORM_API_KEY}xx',
  ])
})

test('a key of three parts that is not a JWT is in the other letter case as a whole: its last part may be hexadecimal', () => {
  const hexadecimal = { value: 'sk.live.0a1b2c3d4e5f', label: '[redacted]' }
  expect(forms(hexadecimal).find(({ kind }) => kind === 'other letter case')).toMatchObject({
    credential: { value: 'Bearer SK.LIVE.0A1B2C3D4E5F' },
  })
})

test('what needs a part that the key lacks is left out, and what equals a declared key', () => {
  expect(forms(opaque).map(keyOf)).toEqual(['1234-5678-', '1234-5678-9012xxxx'])
  expect(forms(opaque, undefined, undefined, ['1234-5678-'])).toHaveLength(1)
  expect(forms(jwt)).toHaveLength(invalidKeys.length - 2)
  expect(forms(jwt, opaque, opaque)).toHaveLength(invalidKeys.length - 2)
})

test('a form is shown as the shell can make it, or in words, and never as it is', () => {
  const redactor = new Redactor()
  redactor.add(jwt.value, jwt.label)
  redactor.add(old.value, old.label)
  redactor.add(low.value, low.label)
  for (const { credential } of forms(jwt, old, low)) {
    expect(credential.shown).toMatch(/^Bearer (\$\{CONFORM_API_KEY(%\?{4})?\}(xxxx)?|\[[\w ,]+\])$/)
    redactor.add(keyOf({ credential }), credential.shown)
  }
  for (const form of forms(jwt, old, low)) {
    const shown = redactor.text(`the key ${keyOf(form)} is unknown`)
    for (const key of [jwt, old, low]) {
      for (const secret of key.value.split('.').slice(1)) {
        for (let at = 0; at + 12 <= secret.length; at++)
          expect(shown).not.toContain(secret.slice(at, at + 12))
      }
    }
  }
})
