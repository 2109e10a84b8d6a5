/** A uuid as §2.3 and §2.4 use the word: 8-4-4-4-12 hexadecimal digits in either case, without `urn:uuid:`. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
}
