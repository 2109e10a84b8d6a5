import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  keyId,
  newPassphrase,
  readPrivateKey,
  readPublicKey,
  writeKeyPair,
} from '../../cli/certificate/keys.ts'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { bytesOf, issuedAt, wholeReport } from './issued.ts'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: issuedAt }))
afterAll(() => void vi.useRealTimers())

/** A folder with a report, and what commands give there. */
function workplace() {
  const cwd = folder()
  writeFileSync(join(cwd, 'r.json'), bytesOf(wholeReport()))
  const run = (args: string, env = {}) => conform(args, { cwd, env })
  return { at: (name: string) => join(cwd, name), run }
}

const sign = 'sign r.json --private-key conform-key.pem'
const verify = 'verify conform-certificate.json --report r.json'
const asked = '--require conformant --require-operations jobs.create --max-age 1'

const mistakes = `
keygen | conform-key.pem: already exists; a key is never overwritten
sign r.json | required option '--private-key <pem>' not specified
${sign} --valid-days 401 | from 1 to 400
${sign} --out r.json | would overwrite r.json
${sign} --out conform-key.pem | would overwrite conform-key.pem
${sign} --out conform-key.pub.pem | contains a key, which is never overwritten
verify nowhere.json | nowhere.json: does not exist
${verify} --public-key conform-key.pem | is not an Ed25519 public key
`

test('keygen, sign and verify, one after the other', async () => {
  const { at, run } = workplace()
  const made = await run('keygen')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const [, id = ''] = /^key id: {6}(sha256:[0-9a-f]{64})$/m.exec(made.stdout)!
  const signed = await run(sign)
  expect(signed).toMatchObject({ code: 0, stderr: '' })
  expect(signed.stdout).toMatch(/^signed:\n {2}Conformant: \d+ required checks passed/)
  expect(signed.stdout).toMatch(/conform verify conform-certificate\.json --report r\.json\n$/)

  const good = `${verify} --key-id ${id} --public-key conform-key.pub.pem ${asked}`
  const found = await run(good)
  expect(found).toMatchObject({ code: 0, stderr: '' })
  expect(found.stdout).toMatch(`signed by the key ${id}\nConformant: `)
  expect(found.stdout).toMatch(/\nexit 0: valid\n$/)
  const told = JSON.parse((await run(`${verify} --json`)).stdout)
  expect(told).toMatchObject({ outcome: 'accepted', signedBy: { keyId: id, isKnown: false } })
  for (const unmet of ['--key-id me', '--require-operations jobs.crate', '--base-url example.com'])
    expect(await run(`${verify} ${unmet}`)).toMatchObject({ code: 1, stderr: '' })
  expect(await run('verify r.json')).toMatchObject({
    code: 1,
    stdout:
      'exit 1: not valid: it is not a certificate: the file has no payloadType or no signatures\n',
    stderr: '',
  })

  const before = readFileSync(at('conform-key.pem'), 'utf8')
  for (const line of mistakes.trim().split('\n')) {
    const [args = '', message] = line.split(' | ')
    const { code, stdout, stderr } = await run(args)
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
    expect(stderr).toContain(message)
  }
  expect(readFileSync(at('conform-key.pem'), 'utf8')).toBe(before)
})

test('a passphrase is taken from CONFORM_KEY_PASSPHRASE, and shown nowhere', async () => {
  const { at, run } = workplace()
  const env = { CONFORM_KEY_PASSPHRASE: 'correct horse battery' }
  const made = await run('keygen', env)
  expect(made.stdout + made.stderr).not.toContain('horse')
  expect(await run(sign, env)).toMatchObject({ code: 0, stderr: '' })
  const refused = async (given: object, message: string) =>
    expect(await run(sign, given)).toMatchObject({
      code: 2,
      stderr: `conform: conform-key.pem: ${message}\n`,
    })
  await refused({}, 'is encrypted; set CONFORM_KEY_PASSPHRASE, or sign on a terminal')
  await refused({ CONFORM_KEY_PASSPHRASE: 'staple' }, 'the passphrase is wrong')
  const pem = readFileSync(at('conform-key.pem'), 'utf8')
  expect(pem).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/)
  const passphrase = env.CONFORM_KEY_PASSPHRASE
  expect(createPrivateKey({ key: pem, passphrase }).asymmetricKeyType).toBe('ed25519')
})

test('a new passphrase is asked for twice', async () => {
  const answers = (...words: string[]) => newPassphrase(async () => words.shift()!)
  expect(await answers('typed', 'typed')).toBe('typed')
  expect(await answers('')).toBeUndefined()
  await expect(answers('typed', 'tpyed')).rejects.toThrow(/the two passphrases differ/)
})

test('a key is for its owner only, and neither half is left behind alone', async () => {
  const { at } = workplace()
  const [secret, open] = [at('k.pem'), at('k.pub.pem')]
  const id = keyId(writeKeyPair(secret, open))
  expect(statSync(secret).mode & 0o777).toBe(0o600)
  expect(keyId(await readPrivateKey(secret))).toBe(id)
  expect(keyId(readPublicKey(open))).toBe(id)
  chmodSync(secret, 0o640)
  await expect(readPrivateKey(secret)).rejects.toThrow(/other users can read .*mode 640.*chmod 600/)
  expect(() => writeKeyPair(at('new.pem'), at('none/new.pub.pem'))).toThrow(/cannot be written/)
  expect(existsSync(at('new.pem'))).toBe(false)
  expect(() => writeKeyPair(at('new.pem'), at('./new.pem'))).toThrow(/name one file/)
})

test('a key that is not an Ed25519 key is refused', async () => {
  const { at } = workplace()
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  writeFileSync(at('k.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  writeFileSync(at('p.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  await expect(readPrivateKey(at('k.pem'))).rejects.toThrow(/k\.pem: is not an Ed25519 private key/)
  expect(() => readPublicKey(at('p.pem'))).toThrow(/p\.pem: is not an Ed25519 public key/)
  // Anybody may read a public one.
  await expect(readPrivateKey(at('p.pem'))).rejects.toThrow(/p\.pem: is not an Ed25519 private key/)
})
