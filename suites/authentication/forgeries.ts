import { isObject } from '../../schemas/json-object.ts'

/** A key that is declared, and how it is written wherever it is shown. */
export interface DeclaredKey {
  readonly value: string
  readonly label: string
}

/** A JWT that nobody signed, and how it is made, in words. */
export interface Forgery {
  readonly value: string
  readonly words: string
}

/** The parts of a signed JWT (RFC 7519), its payload read. */
interface Parts {
  readonly header: Record<string, unknown>
  readonly payload: Record<string, unknown>
  /** As the key has them. */
  readonly encoded: { readonly header: string; readonly payload: string; readonly signature: string }
}

/** A day in 2100, in seconds: as far away for every run. */
const future = 4_102_444_800

function decoded(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function encoded(part: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

function partsOf(key: string): Parts | undefined {
  const [header = '', payload = '', signature = '', ...more] = key.split('.')
  if (signature === '' || more.length > 0) return undefined
  const [readHeader, readPayload] = [decoded(header), decoded(payload)]
  if (!readHeader || !readPayload) return undefined
  return { header: readHeader, payload: readPayload, encoded: { header, payload, signature } }
}

/** The first character of the signature, changed to another letter: the last one may hold bits that nobody reads. */
function otherSignature(key: string): Forgery[] {
  const [header, payload, signature, ...more] = key.split('.')
  if (!header || !payload || !signature || more.length > 0) return []
  const changed = `${/^a/i.test(signature) ? 'B' : 'A'}${signature.slice(1)}`
  const words = 'the full key with the first character of its signature changed'
  return [{ value: `${header}.${payload}.${changed}`, words }]
}

/** What is accepted by a server that does not check a signature, or lets the key say how. */
export function forgeries(full: DeclaredKey, expired: DeclaredKey | undefined): Forgery[] {
  const made = otherSignature(full.value)
  const parts = partsOf(full.value)
  if (parts) {
    const { header, payload } = parts
    const own = parts.encoded
    const other = encoded({ ...payload, conform: 'another payload' })
    const unsigned = encoded({ ...header, alg: 'none' })
    made.push(
      {
        value: `${own.header}.${other}.${own.signature}`,
        words: 'another payload under the signature of the full key',
      },
      { value: `${unsigned}.${own.payload}.`, words: 'the payload of the full key with alg none and no signature' },
    )
  }
  const old = expired && partsOf(expired.value)
  if (old && typeof old.payload['exp'] === 'number') {
    const moved = encoded({ ...old.payload, exp: future })
    const words = 'the expired key with its exp moved into the future under the old signature'
    made.push({ value: `${old.encoded.header}.${moved}.${old.encoded.signature}`, words })
  }
  return made
}
