import { unzipSync, zipSync } from 'fflate'
import { type KeyObject, createHash, createPublicKey, sign, verify } from 'node:crypto'
import { basename } from 'node:path'
import { readBytes } from '../harness/report/index.ts'

/** A file by name. */
export interface NamedBytes {
  readonly name: string
  readonly bytes: Uint8Array
}

/** Files that a certificate rests on, and can be held against. */
export interface Evidence {
  readonly report: NamedBytes
  /** HAR files of the run. */
  readonly exchanges?: readonly NamedBytes[]
  /** The target file without keys, as canonical JSON. */
  readonly target?: NamedBytes
  /** The catalogue that was judged by, as canonical JSON. */
  readonly requirements?: NamedBytes
}

/** More than any bundle holds, in bytes. */
const MOST_BYTES = 1024 ** 3
/** Date of every file, so that the same files make the same bundle; the first day that the format knows, in local time. */
const MTIME = '1980-01-01T00:00:00'
const ZIP = Buffer.from('PK\u0003\u0004')

/** HAR files by the names that they have in a certificate and its bundle. */
export function namedExchanges(files: readonly Uint8Array[]): NamedBytes[] {
  const nameOf = (index: number) =>
    files.length === 1 ? 'exchanges.har' : `exchanges-${index + 1}.har`
  return files.map((bytes, index) => ({ name: nameOf(index), bytes }))
}

/**
 * Packs all that a certificate rests on, and the certificate: a zip without compression, so that its bytes depend on the files
 * alone, whichever version of whatever library packs them, and `unpackBundle` can refuse what is not exactly that.
 */
export function packBundle(
  certificate: Uint8Array,
  { exchanges, ...evidence }: Required<Evidence>,
): Buffer {
  const files = {
    'certificate.json': certificate,
    'report.json': evidence.report.bytes,
    'target.json': evidence.target.bytes,
    'requirements.json': evidence.requirements.bytes,
    ...Object.fromEntries(exchanges.map(({ name, bytes }) => [name, bytes])),
  }
  return Buffer.from(zipSync(files, { level: 0, mtime: MTIME }))
}

/**
 * The files of a bundle, or null if the bytes are not exactly what `packBundle` makes of them: a zip can show different
 * files to different programs, and this one cannot.
 * @param of what a message calls the bundle
 */
export function unpackBundle(bytes: Uint8Array, of: string) {
  try {
    const isSmall = ({ size, originalSize }: { size: number; originalSize: number }) =>
      size <= MOST_BYTES && originalSize === size
    const { 'certificate.json': certificate, ...files } = unzipSync(bytes, { filter: isSmall })
    const take = (name: string): NamedBytes => ({ name: `${name} of ${of}`, bytes: files[name]! })
    const [report, target, requirements] = [
      take('report.json'),
      take('target.json'),
      take('requirements.json'),
    ]
    const hars = Object.keys(files).filter((name) => name.endsWith('.har'))
    const exchanges = namedExchanges(hars.map((name) => files[name]!))
    const evidence: Required<Evidence> = { report, exchanges, target, requirements }
    return packBundle(certificate!, evidence).equals(bytes)
      ? { certificate: certificate!, evidence }
      : null
  } catch {
    return null
  }
}

export interface EvidenceFiles {
  readonly report?: string | undefined
  readonly har?: readonly string[] | undefined
}

/**
 * Reads a certificate, alone or in a bundle, whose bytes it gives too; null for one that is no bundle. The evidence is all that a
 * bundle holds, else what is given. A report that is given beside a bundle is used in place of its own: then it has to be the same.
 * Throws UserError if a file cannot be read.
 */
export function readCertificateFile(
  path: string,
  given: EvidenceFiles = {},
): {
  readonly bytes: Uint8Array | null
  readonly evidence?: Evidence
  readonly bundle?: Uint8Array
} {
  const bytes = readBytes(path)
  const report =
    given.report === undefined ? undefined : { name: given.report, bytes: readBytes(given.report) }
  if (ZIP.equals(bytes.subarray(0, ZIP.length))) {
    const files = unpackBundle(bytes, basename(path))
    if (!files) return { bytes: null }
    return {
      bytes: files.certificate,
      evidence: { ...files.evidence, ...(report && { report }) },
      bundle: bytes,
    }
  }
  const exchanges = namedExchanges((given.har ?? []).map((file) => readBytes(file)))
  return {
    bytes,
    ...(report && { evidence: { report, ...(exchanges.length > 0 && { exchanges }) } }),
  }
}

/** One signature of an envelope. A countersignature brings its public key along, which the key id binds. */
export interface Signature {
  keyid: string
  /** Base64. */
  sig: string
  /** SPKI, PEM. The first signature has none: its key is in what is signed. */
  publicKey?: string
}

/** A DSSE envelope with its signatures (https://github.com/secure-systems-lab/dsse). */
export interface Envelope {
  payloadType: string
  /** Base64. */
  payload: string
  signatures: Signature[]
}

/** Bytes that are signed: type and payload, each with its length before it, so that neither can be taken for the other. */
function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `
  return Buffer.concat([Buffer.from(head), payload])
}

/** Names a public key, whichever half is given: SHA-256 of its SPKI in DER, `sha256:` and hex. */
export function keyId(key: KeyObject): string {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({
    type: 'spki',
    format: 'der',
  })
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`
}

export function signEnvelope(
  payloadType: string,
  payload: Uint8Array,
  privateKey: KeyObject,
): Envelope {
  const encoded = Buffer.from(payload).toString('base64')
  return {
    payloadType,
    payload: encoded,
    signatures: [signatureOf(payloadType, payload, privateKey)],
  }
}

/** Adds a signature to an envelope, over the same bytes. */
export function countersign(envelope: Envelope, privateKey: KeyObject): Envelope {
  const added = signatureOf(envelope.payloadType, payloadOf(envelope), privateKey)
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string
  return { ...envelope, signatures: [...envelope.signatures, { ...added, publicKey }] }
}

export function isSignedBy(envelope: Envelope, { sig }: Signature, publicKey: KeyObject): boolean {
  const signed = preAuthEncoding(envelope.payloadType, payloadOf(envelope))
  return verify(null, signed, publicKey, Buffer.from(sig, 'base64'))
}

export function payloadOf({ payload }: Envelope): Buffer {
  return Buffer.from(payload, 'base64')
}

/** The one way in which an envelope is written to a file. */
export function encode({ payloadType, payload, signatures }: Envelope): Buffer {
  const plain = (text: string) => Buffer.from(text, 'base64').toString('base64')
  const canonical = {
    payloadType,
    payload: plain(payload),
    signatures: signatures.map(({ keyid, sig, publicKey }) => ({
      keyid,
      sig: plain(sig),
      publicKey,
    })),
  }
  return Buffer.from(`${JSON.stringify(canonical, null, 2)}\n`)
}

/** The envelope, or null if the bytes are not exactly what `encode` writes: no byte of a certificate is free. */
export function decode(bytes: Uint8Array): Envelope | null {
  try {
    const envelope = JSON.parse(Buffer.from(bytes).toString('utf8')) as Envelope
    return envelope.signatures.length > 0 && encode(envelope).equals(bytes) ? envelope : null
  } catch {
    return null
  }
}

function signatureOf(payloadType: string, payload: Uint8Array, privateKey: KeyObject): Signature {
  const sig = sign(null, preAuthEncoding(payloadType, payload), privateKey).toString('base64')
  return { keyid: keyId(privateKey), sig }
}
