import type { KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { chmodSync, closeSync, existsSync, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readBytes } from '../harness/report/json-file.ts'
import { unreadable, UserError } from '../harness/user-error.ts'

/** Read or written by anybody but the owner. */
const OTHERS = 0o077

/**
 * Writes a new Ed25519 pair, PEM: PKCS#8 for its owner only, encrypted if there is a passphrase, and SPKI. Overwrites
 * nothing, and leaves nothing behind if one of the two cannot be written.
 */
export function writeKeyPair(privateFile: string, publicFile: string, passphrase?: string): { publicKey: KeyObject } {
  if (resolve(privateFile) === resolve(publicFile))
    throw new UserError(`${privateFile}: the two keys need two different files`)
  for (const file of [privateFile, publicFile]) {
    if (existsSync(file)) throw new UserError(`${file}: exists already; a key is never overwritten, move it away first`)
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const encryption = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  write(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }) as string, 0o600)
  try {
    write(publicFile, pemOf(publicKey), 0o644)
  } catch (error) {
    rmSync(privateFile, { force: true })
    throw error
  }
  return { publicKey }
}

export function pemOf(publicKey: KeyObject): string {
  return publicKey.export({ type: 'spki', format: 'pem' }) as string
}

/**
 * Throws UserError if the file holds no Ed25519 private key in PKCS#8, if others than its owner may read it, or if the
 * passphrase does not open it.
 * @param askPassphrase asked only for a key that has one; undefined if nobody can say it
 */
export async function readPrivateKey(
  file: string,
  askPassphrase: (file: string) => Promise<string | undefined>,
): Promise<KeyObject> {
  const pem = readOwnersOnly(file)
  if (!pem.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----')) {
    return ed25519(file, () => createPrivateKey(pem), 'private')
  }
  const passphrase = await askPassphrase(file)
  if (passphrase === undefined) {
    throw new UserError(`${file}: has a passphrase; set CONFORM_KEY_PASSPHRASE, or sign on a terminal`)
  }
  return ed25519(file, () => opened(file, pem, passphrase), 'private')
}

/** Throws UserError if the file holds no Ed25519 public key; a private one is refused, it does not belong here. */
export function readPublicKey(file: string): KeyObject {
  const bytes = readBytes(file)
  if (bytes.includes('PRIVATE KEY')) throw new UserError(`${file}: is a private key; give the public one`)
  return ed25519(file, () => createPublicKey(bytes), 'public')
}

/** What is read is what was looked at: the rights are those of the open file. */
function readOwnersOnly(file: string): Buffer {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    throw unreadable(file, error)
  }
  try {
    const { mode } = fstatSync(descriptor)
    // Windows knows no such rights, and Node shows others there.
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      const rights = (mode & 0o777).toString(8)
      throw new UserError(
        `${file}: users other than its owner may read or change it (mode ${rights}); chmod 600 it first`,
      )
    }
    return readFileSync(descriptor)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw unreadable(file, error)
  } finally {
    closeSync(descriptor)
  }
}

function opened(file: string, pem: Buffer, passphrase: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, passphrase })
  } catch {
    throw new UserError(`${file}: the passphrase does not open it`)
  }
}

function ed25519(file: string, read: () => KeyObject, half: string): KeyObject {
  try {
    const key = read()
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (error) {
    if (error instanceof UserError) throw error
    // An unreadable key and one of another kind have the same remedy.
  }
  throw new UserError(`${file}: is not an Ed25519 ${half} key in PEM; conform keygen makes one`)
}

function write(file: string, pem: string, mode: number): void {
  try {
    writeFileSync(file, pem, { flag: 'wx', mode })
    // The umask may have taken rights from the public file; the private one never gets more than its owner's.
    chmodSync(file, mode)
  } catch (error) {
    throw new UserError(`${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}
