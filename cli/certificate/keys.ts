import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readBytes } from '../../harness/report/index.ts'
import { ensure, unwritable, UserError } from '../../harness/user-error.ts'
import { Command } from '@commander-js/extra-typings'

/** Id of a key pair: `sha256:` and the hex digest of its public key in SPKI (DER). */
export function keyId(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`
}

export function pemOf(publicKey: KeyObject): string {
  return publicKey.export({ type: 'spki', format: 'pem' }) as string
}

/**
 * Writes a new Ed25519 pair in PEM: PKCS#8, readable by its owner only and encrypted if there is a passphrase, and
 * SPKI. Throws UserError if both are one file, or one exists or cannot be written; then neither file is left behind.
 */
export function writeKeyPair(
  privateFile: string,
  publicFile: string,
  passphrase?: string,
): KeyObject {
  ensure(
    resolve(privateFile) !== resolve(publicFile),
    `${publicFile}: --private-key and --public-key name one file; give each its own`,
  )
  for (const file of [privateFile, publicFile])
    ensure(!existsSync(file), `${file}: already exists; a key is never overwritten`)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const encryption = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  write(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }), 0o600)
  try {
    write(publicFile, pemOf(publicKey), 0o644)
  } catch (error) {
    rmSync(privateFile, { force: true })
    throw error
  }
  return publicKey
}

function write(file: string, pem: string | Buffer, mode: number): void {
  try {
    writeFileSync(file, pem, { flag: 'wx', mode })
    // Makes the public file readable whatever the umask.
    chmodSync(file, mode)
  } catch (error) {
    throw unwritable(file, error)
  }
}

/**
 * Throws UserError if the file is not an Ed25519 private key in PKCS#8, if other users may read it, or if the passphrase is
 * missing or wrong.
 */
export async function readPrivateKey(file: string, ask = terminalAsk()): Promise<KeyObject> {
  const pem = readOwnersFile(file)
  const isEncrypted = pem.includes('BEGIN ENCRYPTED PRIVATE KEY')
  const passphrase = isEncrypted
    ? process.env[VARIABLE] || (await ask?.(`Passphrase of ${file}`))
    : ''
  ensure(passphrase !== undefined, `${file}: is encrypted; set ${VARIABLE}, or sign on a terminal`)
  const key = orUndefined(() => createPrivateKey({ key: pem, passphrase }))
  ensure(key !== undefined || !isEncrypted, `${file}: the passphrase is wrong`)
  ensure(
    key?.asymmetricKeyType === 'ed25519',
    `${file}: is not an Ed25519 private key in PEM; conform keygen makes one`,
  )
  return key
}

function readOwnersFile(file: string): string {
  const pem = readBytes(file).toString()
  const mode = statSync(file).mode & 0o777
  // Windows has no such permissions.
  const isOwners = pem.includes('PRIVATE KEY') && process.platform !== 'win32'
  ensure(
    !isOwners || (mode & 0o077) === 0,
    `${file}: other users can read or change it (mode ${mode.toString(8)}); run chmod 600 first`,
  )
  return pem
}

export function readPublicKey(file: string): KeyObject {
  const key = publicKeyIn(readBytes(file).toString())
  ensure(key !== undefined, `${file}: is not an Ed25519 public key in PEM`)
  return key
}

export function publicKeyIn(pem: unknown): KeyObject | undefined {
  // createPublicKey would also accept a private key.
  if (typeof pem !== 'string' || pem.includes('PRIVATE')) return undefined
  const key = orUndefined(() => createPublicKey(pem))
  return key?.asymmetricKeyType === 'ed25519' ? key : undefined
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const VARIABLE = 'CONFORM_KEY_PASSPHRASE'

/** Asks twice for the passphrase of a new key; undefined for none. Throws UserError if the two differ. */
export async function newPassphrase(ask = terminalAsk()): Promise<string | undefined> {
  const given = process.env[VARIABLE] || undefined
  if (given !== undefined || !ask) return given
  const first = await ask('Passphrase of the new key (empty: none)')
  if (first === '') return undefined
  ensure((await ask('Repeat it')) === first, 'the two passphrases differ; nothing was written')
  return first
}

function terminalAsk(): ((question: string) => Promise<string>) | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  return async (message) => {
    const { isCancel, password } = await import('@clack/prompts')
    const entered = await password({ message })
    if (isCancel(entered)) throw new UserError('cancelled; nothing was written')
    // clack returns undefined for an empty answer, despite its types.
    return entered || ''
  }
}

export function command() {
  return new Command('keygen')
    .description(
      'make an Ed25519 key pair for certificates; the passphrase is asked for, or taken from CONFORM_KEY_PASSPHRASE',
    )
    .option(
      '--private-key <pem>',
      'private key file to write, readable by its owner only',
      'conform-key.pem',
    )
    .option('--public-key <pem>', 'public key file to write', 'conform-key.pub.pem')
    .action(async (options) => {
      const passphrase = await newPassphrase()
      const publicKey = writeKeyPair(options.privateKey, options.publicKey, passphrase)
      const warning = passphrase === undefined ? '; it has no passphrase' : ''
      process.stdout.write(
        `private key: ${options.privateKey} (keep it secret${warning})\n` +
          `public key:  ${options.publicKey}\n` +
          `key id:      ${keyId(publicKey)}\n`,
      )
    })
}
