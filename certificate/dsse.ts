import type { KeyObject } from 'node:crypto'
import { createHash, createPublicKey, sign, verify } from 'node:crypto'

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

/** What is signed: type and payload, each with its length before it, so that neither can be taken for the other. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `
  return Buffer.concat([Buffer.from(head), payload])
}

/** Names a public key, whichever half is given: SHA-256 of its SPKI in DER, `sha256:` and hex. */
export function keyId(key: KeyObject): string {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`
}

export function seal(payloadType: string, payload: Uint8Array, privateKey: KeyObject): Envelope {
  const encoded = Buffer.from(payload).toString('base64')
  return { payloadType, payload: encoded, signatures: [signatureOf(payloadType, payload, privateKey)] }
}

/** The same envelope with one more signature, over the same bytes. */
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
    signatures: signatures.map(({ keyid, sig, publicKey }) => ({ keyid, sig: plain(sig), publicKey })),
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
