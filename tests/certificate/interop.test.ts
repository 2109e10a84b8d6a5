/** Certificates as others read them: Sigstore's implementation of DSSE, and its verifier of in-toto attestations. */
import { verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { bundleFromJSON } from '@sigstore/bundle'
import { dsse } from '@sigstore/core'
import { toSignedEntity, Verifier } from '@sigstore/verify'
import { beforeAll, expect, test } from 'vitest'
import { readPublicKey } from '../../certificate/keys.ts'
import { signer } from './signed.ts'

const vendor = signer()
const certifier = signer()
let envelope: any

beforeAll(async () => {
  await vendor.sign({})
  await certifier.sign({ add: vendor.file('c.json'), report: vendor.file('report.json') })
  envelope = JSON.parse(readFileSync(certifier.file('c.json'), 'utf8'))
})

/** Sigstore's verifier, which trusts these two keys, asks no log and no clock, and finds a key by the id in the bundle. */
function verifier() {
  const keys = Object.fromEntries(
    [vendor, certifier].map(({ id, file }) => [
      id,
      { publicKey: readPublicKey(file('k.pub.pem')), validFor: () => true },
    ]),
  )
  const material = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: (hint: string) => keys[hint] as never,
  }
  return new Verifier(material, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 })
}

/** The envelope with one of its signatures, as Sigstore's bundle carries it. */
function attestation(index: number, change: (envelope: any) => void = () => undefined) {
  const { keyid, sig } = envelope.signatures[index]
  const dsseEnvelope = { ...envelope, signatures: [{ keyid, sig }] }
  change(dsseEnvelope)
  return toSignedEntity(
    bundleFromJSON({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: {
        publicKey: { hint: keyid },
        tlogEntries: [],
        timestampVerificationData: null,
      },
      dsseEnvelope,
    }),
  )
}

test('an independent DSSE implementation signs the same bytes', () => {
  expect(Object.keys(envelope)).toEqual(['payloadType', 'payload', 'signatures'])
  const signed = dsse.preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'))
  for (const [index, { file }] of [vendor, certifier].entries()) {
    const sig = Buffer.from(envelope.signatures[index].sig, 'base64')
    expect(verify(null, signed, readPublicKey(file('k.pub.pem')), sig)).toBe(true)
  }
})

test('an independent verifier of attestations accepts each signature, and none over anything else', () => {
  for (const index of [0, 1]) {
    expect(() => verifier().verify(attestation(index))).not.toThrow()
    const refused = (change: (envelope: any) => void) =>
      expect(() => verifier().verify(attestation(index, change))).toThrow(
        /signature verification failed/,
      )
    refused((changed) => (changed.payloadType = 'application/json'))
    refused((changed) => (changed.payload = Buffer.from('{}').toString('base64')))
    refused((changed) => (changed.signatures[0].sig = envelope.signatures[1 - index].sig))
  }
})

test('the statement keeps what in-toto asks of a Statement v1', () => {
  expect(envelope.payloadType).toBe('application/vnd.in-toto+json')
  const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
  expect(Object.keys(statement).sort()).toEqual(['_type', 'predicate', 'predicateType', 'subject'])
  expect(statement._type).toBe('https://in-toto.io/Statement/v1')
  expect(new URL(statement.predicateType).protocol).toBe('https:')
  for (const { name, digest } of statement.subject) {
    expect(name).not.toBe('')
    expect(digest).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  }
})
