import type { KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { readBytes } from '../harness/report/json-file.ts'
import { UserError } from '../harness/user-error.ts'

/** Writes a new Ed25519 pair, PEM: PKCS8 for its owner only, and SPKI. Overwrites nothing. */
export function writeKeyPair(privateFile: string, publicFile: string): { publicKey: KeyObject } {
  if (privateFile === publicFile) throw new UserError(`${privateFile}: give the two keys two files`)
  for (const file of [privateFile, publicFile]) {
    if (existsSync(file)) throw new UserError(`${file}: exists already; a key is never overwritten, move it away first`)
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  write(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600)
  write(publicFile, pemOf(publicKey), 0o644)
  return { publicKey }
}

export function pemOf(publicKey: KeyObject): string {
  return publicKey.export({ type: 'spki', format: 'pem' }) as string
}

/** Throws UserError where the file holds no Ed25519 private key. */
export function readPrivateKey(file: string): KeyObject {
  return ed25519(file, readBytes(file), createPrivateKey, 'private')
}

/** Throws UserError where the file holds no Ed25519 public key; a private one is refused, it does not belong here. */
export function readPublicKey(file: string): KeyObject {
  const bytes = readBytes(file)
  if (bytes.includes('PRIVATE KEY')) throw new UserError(`${file}: is a private key; give the public one`)
  return ed25519(file, bytes, createPublicKey, 'public')
}

function ed25519(file: string, pem: Buffer, read: (pem: Buffer) => KeyObject, half: string): KeyObject {
  try {
    const key = read(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // An unreadable key and one of another kind have the same remedy.
  }
  throw new UserError(`${file}: is no Ed25519 ${half} key in PEM; conform keygen makes one`)
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
