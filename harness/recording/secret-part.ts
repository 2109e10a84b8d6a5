/**
 * The part of a key whose runs give it away. A JWT's first part says only how it is signed and is the same in many
 * tokens, so that the second and third count; of any other key all of it.
 */
export function secretPart(key: string): string {
  const [head, ...rest] = key.split('.')
  const secret = rest.join('.')
  return rest.length === 2 && head !== undefined && isJoseHeader(head) && secret.length >= 12 ? secret : key
}

function isJoseHeader(part: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof header === 'object' && header !== null && 'alg' in header
  } catch {
    return false
  }
}
