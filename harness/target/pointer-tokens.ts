/** The member names of a JSON Pointer (RFC 6901), unescaped. */
export function tokensOf(pointer: string): string[] {
  const tokens = pointer.split('/').slice(1)
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}
