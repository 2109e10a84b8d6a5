import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keyId } from '../../certificate/dsse.ts'
import { readPrivateKey, readPublicKey, writeKeyPair } from '../../certificate/keys.ts'
import { verifyFile } from '../../cli/verify.ts'
import { folder, issued, issuedAt } from './issued.ts'

const files = () => {
  const at = folder()
  return { secret: join(at, 'k.pem'), open: join(at, 'k.pub.pem'), at }
}

test('a pair is PKCS8 for its owner only and SPKI, and both halves have one id', () => {
  const { secret, open } = files()
  const { publicKey } = writeKeyPair(secret, open)
  expect(statSync(secret).mode & 0o777).toBe(0o600)
  expect(statSync(open).mode & 0o777).toBe(0o644)
  expect(readFileSync(secret, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/)
  expect(readFileSync(open, 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----/)
  expect(keyId(readPrivateKey(secret))).toBe(keyId(publicKey))
  expect(keyId(readPublicKey(open))).toBe(keyId(publicKey))
})

test('no key is overwritten, and nothing is left behind', () => {
  const { secret, open } = files()
  writeFileSync(open, 'mine')
  expect(() => writeKeyPair(secret, open)).toThrow(/k\.pub\.pem: exists already/)
  expect(existsSync(secret)).toBe(false)
  expect(readFileSync(open, 'utf8')).toBe('mine')
  expect(() => writeKeyPair(secret, secret)).toThrow(/two files/)
})

test('what is no Ed25519 key is refused in one sentence', () => {
  const { secret, open, at } = files()
  writeKeyPair(secret, open)
  const rsa = join(at, 'rsa.pem')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  writeFileSync(rsa, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  expect(() => readPrivateKey(rsa)).toThrow(/rsa\.pem: is no Ed25519 private key/)
  expect(() => readPrivateKey(open)).toThrow(/k\.pub\.pem: is no Ed25519 private key/)
  expect(() => readPublicKey(secret)).toThrow(/k\.pem: is a private key/)
  expect(() => readPublicKey(join(at, 'none.pem'))).toThrow(/none\.pem: cannot be read \(ENOENT\)/)
})

test('verify finds a certificate valid or not; a file that cannot be read is not', () => {
  const { path, certificate } = issued()
  const file = join(folder(), 'certificate.json')
  writeFileSync(file, certificate())
  expect(verifyFile(file, { report: path }, issuedAt).valid).toBe(true)
  expect(verifyFile(path, {}, issuedAt)).toMatchObject({ valid: false, lines: [expect.stringMatching(/^not valid:/)] })
  expect(verifyFile('/nowhere', {}, issuedAt)).toEqual({
    valid: false,
    lines: ['not valid: /nowhere: cannot be read (ENOENT)'],
  })
})
