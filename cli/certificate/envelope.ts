import { type KeyObject, sign, verify } from 'node:crypto'
import { isObject, member, parsedJson } from '../../schemas/json.ts'
import { keyId } from './keys.ts'

/** A DSSE envelope, decoded (https://github.com/secure-systems-lab/dsse). */
export interface Envelope {
  readonly payloadType: string
  readonly payload: Buffer
  /** `keyid` is only a hint; nothing relies on it. */
  readonly signatures: readonly { readonly keyid?: string; readonly sig: Buffer }[]
}

function preAuthEncoding(payloadType: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.byteLength} `
  return Buffer.concat([Buffer.from(head), payload])
}

export function signEnvelope(
  payloadType: string,
  payload: Buffer,
  privateKey: KeyObject,
): Envelope {
  const sig = sign(null, preAuthEncoding(payloadType, payload), privateKey)
  return { payloadType, payload, signatures: [{ keyid: keyId(privateKey), sig }] }
}

export function isSignedBy(envelope: Envelope, publicKey: KeyObject): boolean {
  const signed = preAuthEncoding(envelope.payloadType, envelope.payload)
  return envelope.signatures.some((signature) => verify(null, signed, publicKey, signature.sig))
}

export function encodeEnvelope(envelope: Envelope): string {
  const written = {
    payloadType: envelope.payloadType,
    payload: envelope.payload.toString('base64'),
    signatures: envelope.signatures.map((signature) => ({
      keyid: signature.keyid,
      sig: signature.sig.toString('base64'),
    })),
  }
  return `${JSON.stringify(written, null, 2)}\n`
}

/**
 * Reads an envelope with the freedom that DSSE allows: either base64 alphabet, any order of members, white space and
 * line ends, several signatures; skips a byte order mark. Otherwise returns the problem, as the end of a sentence.
 */
export function decodeEnvelope(bytes: Buffer): Envelope | string {
  const value = parsedJson(bytes.toString('utf8').replace(/^\uFEFF/, ''))
  if (!isObject(value)) return 'the file is not a JSON object'
  const { payloadType, signatures } = value
  const payload = base64In(value.payload)
  if (typeof payloadType !== 'string' || !Array.isArray(signatures))
    return 'the file has no payloadType or no signatures'
  if (payload === undefined) return 'its payload is not base64'
  const decoded = signatures.flatMap((signature) => {
    const sig = base64In(member(signature, 'sig'))
    const keyid = member(signature, 'keyid')
    return sig ? [{ sig, ...(typeof keyid === 'string' && { keyid }) }] : []
  })
  return decoded.length === signatures.length && decoded.length > 0
    ? { payloadType, payload, signatures: decoded }
    : 'it has no signature, or one that is not base64'
}

function base64In(text: unknown): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  const bare = text.replaceAll(/\s/g, '')
  return /^[\w+/-]+={0,2}$/.test(bare) ? Buffer.from(bare, 'base64') : undefined
}
