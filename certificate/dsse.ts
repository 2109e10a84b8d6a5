import type { KeyObject } from 'node:crypto'
import { createHash, createPublicKey, sign, verify } from 'node:crypto'

/** A DSSE envelope with its one signature (https://github.com/secure-systems-lab/dsse). */
export interface Envelope {
  payloadType: string
  /** Base64. */
  payload: string
  signatures: [{ keyid: string; sig: string }]
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
  const sig = sign(null, preAuthEncoding(payloadType, payload), privateKey).toString('base64')
  const encoded = Buffer.from(payload).toString('base64')
  return { payloadType, payload: encoded, signatures: [{ keyid: keyId(privateKey), sig }] }
}

export function isSignedBy(envelope: Envelope, publicKey: KeyObject): boolean {
  const signed = preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'))
  return verify(null, signed, publicKey, Buffer.from(envelope.signatures[0].sig, 'base64'))
}

/** The one way in which an envelope is written to a file. */
export function encode({ payloadType, payload, signatures: [{ keyid, sig }] }: Envelope): Buffer {
  const plain = (text: string) => Buffer.from(text, 'base64').toString('base64')
  const canonical = { payloadType, payload: plain(payload), signatures: [{ keyid, sig: plain(sig) }] }
  return Buffer.from(`${JSON.stringify(canonical, null, 2)}\n`)
}

/** The envelope, or null where the bytes are not exactly what `encode` writes: no byte of a certificate is free. */
export function decode(bytes: Uint8Array): Envelope | null {
  try {
    const envelope = JSON.parse(Buffer.from(bytes).toString('utf8')) as Envelope
    return encode(envelope).equals(bytes) ? envelope : null
  } catch {
    return null
  }
}
