/** Statements of a report about the interface that it was judged by. */
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { catalogue, published } from './catalogue.ts'

/** The version that the interface's machine-readable description declares (§9). */
export const specVersion = '1.0'

/** SHA-256 of the bytes of the interface's text, as this suite read it. A later text has another digest and another version of the suite. */
export const specDigest = 'sha256:f0330eb85c2e74b6b8f2ea2e55d3351ff1ef476638083cdc825018beb8947c09'

/** The catalogue as canonical JSON (RFC 8785). */
export function requirementsText(): string {
  const text = canonicalize(catalogue.map(published))
  if (text === undefined) throw new Error('the catalogue is no JSON value')
  return text
}

let digest: string | undefined

/** SHA-256 of that text: reports of one digest judged the same requirements. */
export function requirementsDigest(): string {
  return (digest ??= `sha256:${createHash('sha256').update(requirementsText(), 'utf8').digest('hex')}`)
}
