import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { keyId } from '../../certificate/certificate-file.ts'
import {
  readPrivateKey,
  readPublicKey,
  writeKeyPair,
  newPassphrase,
  passphraseOf,
} from '../../certificate/keys.ts'
import { folder } from '../cli/conform.ts'

const nobody = async () => undefined

const files = () => {
  const at = folder()
  return { secret: join(at, 'k.pem'), open: join(at, 'k.pub.pem'), at }
}

test('a pair is PKCS8 for its owner only and SPKI, and both halves have one id', async () => {
  const { secret, open } = files()
  const { publicKey } = writeKeyPair(secret, open)
  expect(statSync(secret).mode & 0o777).toBe(0o600)
  expect(statSync(open).mode & 0o777).toBe(0o644)
  expect(readFileSync(secret, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/)
  expect(readFileSync(open, 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----/)
  expect(keyId(await readPrivateKey(secret, nobody))).toBe(keyId(publicKey))
  expect(keyId(readPublicKey(open))).toBe(keyId(publicKey))
})

test('no key is overwritten, and nothing is left behind', () => {
  const { secret, open } = files()
  writeFileSync(open, 'mine')
  expect(() => writeKeyPair(secret, open)).toThrow(/k\.pub\.pem: exists already/)
  expect(existsSync(secret)).toBe(false)
  expect(readFileSync(open, 'utf8')).toBe('mine')
  expect(() => writeKeyPair(secret, `${dirname(secret)}/./k.pem`)).toThrow(/two different files/)
  expect(() => writeKeyPair(secret, join(secret, 'below.pem'))).toThrow(
    /below\.pem: cannot be written/,
  )
  expect(existsSync(secret)).toBe(false)
})

test('what is no Ed25519 key is refused in one sentence', async () => {
  const { secret, open, at } = files()
  writeKeyPair(secret, open)
  const rsa = join(at, 'rsa.pem')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  writeFileSync(rsa, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  await expect(readPrivateKey(rsa, nobody)).rejects.toThrow(
    /rsa\.pem: is not an Ed25519 private key/,
  )
  chmodSync(open, 0o600)
  await expect(readPrivateKey(open, nobody)).rejects.toThrow(
    /k\.pub\.pem: is not an Ed25519 private key/,
  )
  expect(() => readPublicKey(secret)).toThrow(/k\.pem: is a private key/)
  expect(() => readPublicKey(join(at, 'none.pem'))).toThrow(/none\.pem: does not exist/)
})

test('a private key that others may read, or change, is refused', async () => {
  const { secret, open } = files()
  writeKeyPair(secret, open)
  for (const mode of [0o640, 0o604, 0o620, 0o610]) {
    chmodSync(secret, mode)
    await expect(readPrivateKey(secret, nobody)).rejects.toThrow(
      /users other than its owner may read or change it \(mode 6/,
    )
  }
  chmodSync(secret, 0o400)
  expect((await readPrivateKey(secret, nobody)).type).toBe('private')
})

test('a key with a passphrase is encrypted PKCS8, and opens with it alone', async () => {
  const { secret, open } = files()
  const { publicKey } = writeKeyPair(secret, open, 'correct horse')
  expect(readFileSync(secret, 'utf8')).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/)
  const pem = readFileSync(secret, 'utf8')
  expect(keyId(createPrivateKey({ key: pem, passphrase: 'correct horse' }))).toBe(keyId(publicKey))
  expect(keyId(await readPrivateKey(secret, async () => 'correct horse'))).toBe(keyId(publicKey))
  // PBES2 with scrypt, 2^14 times 8 blocks, five times over; the numbers stand in it in the open.
  const der = Buffer.from(pem.replaceAll(/-----.*-----|\n/g, ''), 'base64').toString('hex')
  expect(der).toMatch(
    /06092a864886f70d01050d.*06092b06010401da47040b301c.*02024000020108020105.*060960864801650304012a/,
  )
  await expect(readPrivateKey(secret, async () => 'wrong')).rejects.toThrow(
    /the passphrase does not open it/,
  )
  await expect(readPrivateKey(secret, nobody)).rejects.toThrow(
    /has a passphrase; set CONFORM_KEY_PASSPHRASE/,
  )
})

test('a key that was made before, with fewer rounds, still opens', async () => {
  const { secret } = files()
  const { privateKey } = generateKeyPairSync('ed25519')
  const old = privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'tea',
  })
  writeFileSync(secret, old, { mode: 0o600 })
  expect(keyId(await readPrivateKey(secret, async () => 'tea'))).toBe(keyId(privateKey))
})

test.each([
  'tea',
  'short words',
  'aaaaaaaaaaaaaaaa',
  'abcabcabcabcabc',
  'passwordpassword',
  'P@ssw0rd12345678',
  'abcdefghijklmnop',
  '987654321987654321',
  'qwertyuiopasdfgh',
  'changeme-changeme',
  'conformance-key-2026',
])('a new key has no passphrase such as %s', async (passphrase) => {
  const environment = { CONFORM_KEY_PASSPHRASE: passphrase }
  await expect(newPassphrase({ environment })).rejects.toThrow(
    /^CONFORM_KEY_PASSPHRASE: is guessed in no time; take 12/,
  )
  const ask = async () => passphrase
  await expect(newPassphrase({ environment: {}, ask })).rejects.toThrow(
    /^the passphrase: is guessed in no time/,
  )
})

test.each([
  'correct horse battery',
  'kV9$wq-Lmz3!',
  'Der Tee ist heute kalt',
  '雨が降ると川の水は増える',
])('a new key may have one such as %s', async (passphrase) => {
  expect(await newPassphrase({ environment: { CONFORM_KEY_PASSPHRASE: passphrase } })).toBe(
    passphrase,
  )
})

test('the variable says the passphrase before anybody is asked, who is asked twice for a new one', async () => {
  const asked: string[] = []
  const answers = (...words: string[]) => ({
    environment: {},
    ask: async (question: string) => {
      asked.push(question)
      return words.shift() ?? ''
    },
  })
  const environment = { CONFORM_KEY_PASSPHRASE: 'four words from there' }
  expect(await passphraseOf('k.pem', { ...answers('typed'), environment })).toBe(
    'four words from there',
  )
  expect(await newPassphrase({ ...answers('typed'), environment })).toBe('four words from there')
  expect(asked).toEqual([])
  expect(await passphraseOf('k.pem', answers('typed'))).toBe('typed')
  expect(await newPassphrase(answers('typed by hand', 'typed by hand'))).toBe('typed by hand')
  expect(await newPassphrase(answers(''))).toBeUndefined()
  await expect(newPassphrase(answers('typed', 'tpyed'))).rejects.toThrow(
    /the two passphrases differ/,
  )
  expect(await passphraseOf('k.pem', { environment: {} })).toBeUndefined()
  expect(await newPassphrase({ environment: {} })).toBeUndefined()
  await expect(newPassphrase({ environment: { CONFORM_KEY_PASSPHRASE: '' } })).rejects.toThrow(
    /^CONFORM_KEY_PASSPHRASE is set but empty; unset it/,
  )
  expect(asked[0]).toBe('Passphrase of k.pem')
})
