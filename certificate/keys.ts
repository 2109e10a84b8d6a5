import {
  type KeyObject,
  createCipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  scryptSync,
} from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { readBytes } from '../harness/report/index.ts'
import { ensure, unreadable, unwritable, UserError } from '../harness/user-error.ts'

/** Read or written by anybody but the owner. */
const OTHERS = 0o077

/**
 * Writes a new Ed25519 pair, PEM: PKCS#8 for its owner only, encrypted if there is a passphrase, and SPKI. Overwrites
 * nothing, and leaves nothing behind if one of the two cannot be written.
 */
export function writeKeyPair(
  privateFile: string,
  publicFile: string,
  passphrase?: string,
): { publicKey: KeyObject } {
  if (resolve(privateFile) === resolve(publicFile))
    throw new UserError(`${privateFile}: the two keys need two different files`)
  for (const file of [privateFile, publicFile]) {
    if (existsSync(file))
      throw new UserError(`${file}: exists already; a key is never overwritten, move it away first`)
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const plain = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  write(privateFile, passphrase === undefined ? plain : encryptedPem(privateKey, passphrase), 0o600)
  try {
    write(publicFile, pemOf(publicKey), 0o644)
  } catch (error) {
    rmSync(privateFile, { force: true })
    throw error
  }
  return { publicKey }
}

/**
 * Cost of trying a passphrase: 16 MiB and half a second, five times over (OWASP's least for scrypt). The most memory for
 * which OpenSSL opens a key without being told to; what Node writes by itself is 2,048 rounds of PBKDF2.
 */
const SCRYPT = { N: 2 ** 14, r: 8, p: 5 }

/** PKCS#8 under a passphrase (RFC 8018, PBES2) by scrypt (RFC 7914) and AES-256-CBC; Node and OpenSSL open it. */
function encryptedPem(privateKey: KeyObject, passphrase: string): string {
  const [salt, iv] = [randomBytes(16), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', scryptSync(passphrase, salt, 32, SCRYPT), iv)
  const plain = privateKey.export({ type: 'pkcs8', format: 'der' })
  const cost = [SCRYPT.N, SCRYPT.r, SCRYPT.p].map(integer)
  const derivation = sequence(SCRYPT_OID, sequence(octets(salt), ...cost))
  const scheme = sequence(PBES2_OID, sequence(derivation, sequence(AES_256_CBC_OID, octets(iv))))
  const der = sequence(scheme, octets(Buffer.concat([cipher.update(plain), cipher.final()])))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [
    '-----BEGIN ENCRYPTED PRIVATE KEY-----',
    ...lines,
    '-----END ENCRYPTED PRIVATE KEY-----',
    '',
  ].join('\n')
}

/** 1.2.840.113549.1.5.13, 1.3.6.1.4.1.11591.4.11 and 2.16.840.1.101.3.4.1.42, in DER. */
const PBES2_OID = Buffer.from('06092a864886f70d01050d', 'hex')
const SCRYPT_OID = Buffer.from('06092b06010401da47040b', 'hex')
const AES_256_CBC_OID = Buffer.from('060960864801650304012a', 'hex')

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  return Buffer.concat([
    Buffer.from(
      length < 128
        ? [tag, length]
        : length < 256
          ? [tag, 0x81, length]
          : [tag, 0x82, length >> 8, length & 0xff],
    ),
    content,
  ])
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts))
const octets = (bytes: Buffer): Buffer => der(0x04, bytes)

/** A positive number below 2³¹, without bytes that say nothing. */
function integer(value: number): Buffer {
  const bytes = Buffer.alloc(5)
  bytes.writeUInt32BE(value, 1)
  const start = bytes.findIndex((byte, at) => byte !== 0 || (bytes[at + 1] ?? 0) > 127)
  return der(0x02, bytes.subarray(start))
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
  if (!pem.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----'))
    return ed25519(file, () => createPrivateKey(pem), 'private')
  const passphrase = await askPassphrase(file)
  ensure(
    passphrase !== undefined,
    `${file}: has a passphrase; set CONFORM_KEY_PASSPHRASE, or sign on a terminal`,
  )
  const key = orUndefined(() => createPrivateKey({ key: pem, passphrase }))
  ensure(key !== undefined, `${file}: the passphrase does not open it`)
  return ed25519(file, () => key, 'private')
}

/** Throws UserError if the file holds no Ed25519 public key; a private one is refused, it does not belong here. */
export function readPublicKey(file: string): KeyObject {
  const bytes = readBytes(file)
  if (bytes.includes('PRIVATE KEY'))
    throw new UserError(`${file}: is a private key; give the public one`)
  return ed25519(file, () => createPublicKey(bytes), 'public')
}

/** Reads what was looked at: the rights are those of the open file. */
function readOwnersOnly(file: string): Buffer {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
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
    throw error instanceof UserError ? error : unreadable(file, error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Gives the key that is read; an unreadable one and one of another kind have the same remedy. */
function ed25519(file: string, read: () => KeyObject, half: string): KeyObject {
  const key = orUndefined(read)
  ensure(
    key?.asymmetricKeyType === 'ed25519',
    `${file}: is not an Ed25519 ${half} key in PEM; conform keygen makes one`,
  )
  return key
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function write(file: string, pem: string, mode: number): void {
  try {
    writeFileSync(file, pem, { flag: 'wx', mode })
    // The umask may have taken rights from the public file; the private one never gets more than its owner's.
    chmodSync(file, mode)
  } catch (error) {
    throw unwritable(file, error)
  }
}

/** Holds the passphrase of the private key if nobody is there to be asked. */
const VARIABLE = 'CONFORM_KEY_PASSPHRASE'

/** Who can say a passphrase: the variable first, then somebody at a terminal. */
interface Speaker {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Asks without showing what is typed; undefined if there is no terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
}

/** The passphrase of the key in that file; undefined if nobody says one. */
export async function passphraseOf(
  file: string,
  { environment, ask }: Speaker,
): Promise<string | undefined> {
  return environment[VARIABLE] || (await ask?.(`Passphrase of ${file}`))
}

/**
 * The passphrase of a new key, asked for twice; undefined if it is to have none. Throws UserError for one that is guessed
 * in no time, and for a variable that is set to nothing: a secret is missing there.
 */
export async function newPassphrase({ environment, ask }: Speaker): Promise<string | undefined> {
  const given = environment[VARIABLE]
  if (given === '')
    throw new UserError(`${VARIABLE} is set but empty; unset it for a key without a passphrase`)
  if (given !== undefined) return strong(given, VARIABLE)
  if (!ask) return undefined
  const first = await ask('Passphrase of the new key (leave empty for none)')
  if (first === '') return undefined
  if ((await ask('Passphrase again')) !== first)
    throw new UserError('the two passphrases differ; nothing was written')
  return strong(first, 'the passphrase')
}

/** Fewest characters, and fewest of them that do not follow from those before. */
const FEWEST = 12
const FEWEST_FREE = 8

const common =
  /pass(word|phrase|wort)?|letmein|welcome|iloveyou|monkey|dragon|football|admin(istrator)?|secret|changeme|conform(ance)?|certificate|default|login|master|test(ing)?|abc|qwert[yz]|key/g
const rows = ['qwertyuiop', 'qwertzuiop', 'asdfghjkl', 'zxcvbnm', 'yxcvbnm']

function strong(passphrase: string, name: string): string {
  if ([...passphrase].length < FEWEST || freeCharacters(passphrase) < FEWEST_FREE) {
    throw new UserError(
      `${name}: is guessed in no time; take ${FEWEST} characters or more, no common words, repetitions or sequences: four random words will do`,
    )
  }
  return passphrase
}

/** How many characters are left without common words, repetitions of the whole, and what goes on from the one before. */
function freeCharacters(passphrase: string): number {
  const text = [...passphrase.toLowerCase()]
    .map((character) => leet[character] ?? character)
    .join('')
  const once = text.slice(0, (text + text).indexOf(text, 1))
  const left = [...once.replaceAll(common, '')]
  const isFree = (character: string, at: number) => {
    const before = left[at - 1]
    return before === undefined || !(isNext(before, character) || isNext(character, before))
  }
  return new Set(left.filter(isFree)).size
}

const leet: Readonly<Record<string, string>> = {
  '@': 'a',
  $: 's',
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '5': 's',
  '!': 'i',
}

function isNext(one: string, other: string): boolean {
  const step = other.codePointAt(0)! - one.codePointAt(0)!
  return step === 0 || step === 1 || rows.some((row) => row.includes(one + other))
}

/** This process: its environment, and its terminal if it has one. */
export function processSpeaker(): Speaker {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY
  return { environment: process.env, ask: isTerminal ? askOnTerminal : undefined }
}

async function askOnTerminal(message: string): Promise<string> {
  // Nobody but who is asked waits for it to load.
  const { isCancel, password } = await import('@clack/prompts')
  const entered = await password({ message })
  if (isCancel(entered)) throw new UserError('cancelled; nothing was written')
  // clack gives undefined for an empty answer, whatever its types say.
  return entered || ''
}
