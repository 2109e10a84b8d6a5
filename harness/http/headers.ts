import type { HeaderLine, HttpRequest } from './message.ts'

/** The header lines of a request as they are sent, but for `host` and `content-length`. */
export function sentLines({ headers }: HttpRequest): readonly HeaderLine[] {
  const given = headers.some(({ name }) => name.toLowerCase() === 'accept-encoding')
  return given ? headers : [...headers, { name: 'accept-encoding', value: 'gzip, deflate, br' }]
}

/** Header lines of an answer, in the order and the letter case in which they came. */
export function headerLines(raw: readonly Buffer[]): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    lines.push({ name: raw[at]!.toString('latin1'), value: raw[at + 1]!.toString('latin1') })
  }
  return lines
}

/** The values of all header lines of that name (lower case), joined as HTTP joins them; undefined if there is none. */
export function headerValue(headers: readonly HeaderLine[], name: string): string | undefined {
  const values = headers.filter((line) => line.name.toLowerCase() === name).map(({ value }) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

/** What `content-length` promises, in bytes. */
export function promisedLength(headers: readonly HeaderLine[]): number | undefined {
  const value = headerValue(headers, 'content-length')
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
}
