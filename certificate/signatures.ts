import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import type { Envelope, Signature } from './dsse.ts'
import { isSignedBy, keyId } from './dsse.ts'
import { pemOf } from './keys.ts'

/** The ids of the keys that signed, in the order of the file; and what is wrong with any of the signatures. */
export interface Signers {
  readonly signers: readonly string[]
  readonly problems: readonly string[]
}

/** Verifies every signature: the first by the key in the statement, each further one by the key beside it. */
export function checkSignatures(envelope: Envelope, issuer: KeyObject): Signers {
  const signers: string[] = []
  const problems: string[] = []
  for (const [index, signature] of envelope.signatures.entries()) {
    const key = index === 0 ? issuer : keyFrom(signature.publicKey)
    const problem = key ? signatureProblem(envelope, signature, key) : `there is no Ed25519 public key beside it`
    if (problem !== null) problems.push(`its signature ${index + 1} does not hold: ${problem}`)
    else if (index === 0 && signature.publicKey !== undefined)
      problems.push('there is a key beside its first signature')
    else if (signers.includes(signature.keyid)) problems.push(`${signature.keyid} signed it twice`)
    else signers.push(signature.keyid)
  }
  return { signers, problems }
}

function signatureProblem(envelope: Envelope, signature: Signature, key: KeyObject): string | null {
  const id = keyId(key)
  if (signature.keyid !== id) return `it names ${signature.keyid}, but the key there is ${id}`
  return isSignedBy(envelope, signature, key) ? null : `it is not one by ${id}`
}

/** The Ed25519 public key of that PEM, if it is one and written in the one way. */
export function keyFrom(pem: unknown): KeyObject | null {
  if (typeof pem !== 'string' || pem.includes('PRIVATE')) return null
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === 'ed25519' && pemOf(key) === pem ? key : null
  } catch {
    return null
  }
}
