/** A uuid in the sense of §2.3 and §2.4: 8-4-4-4-12 hexadecimal digits in either case, without `urn:uuid:`. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
}

export interface Instant {
  /** Milliseconds since 1970-01-01T00:00:00Z; fractional if the text is finer. */
  readonly epochMs: number
  /**
   * One unit of the last digit in ms: 1000 without a fraction, 1 for three digits. Below a millisecond it includes the
   * rounding of `epochMs`, so that adjacent instants are never further apart.
   */
  readonly unitMs: number
}

// RFC 3339 §5.6: T and Z in either case, no blank in place of T, a colon in the offset.
const shape = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i

/** Epoch ms of the start of that minute in UTC; years below 100 are kept. */
function minuteStart([
  year = 0,
  month = 0,
  day = 0,
  hour = 0,
  minute = 0,
]: readonly number[]): number {
  return new Date(0).setUTCFullYear(year, month - 1, day) + (hour * 60 + minute) * 60_000
}

function daysIn(year: number, month: number): number {
  return new Date(new Date(0).setUTCFullYear(year, month, 0)).getUTCDate()
}

/** Parses a date-time by RFC 3339 §5.6; undefined for anything else. */
export function parseDateTime(text: string): Instant | undefined {
  const match = shape.exec(text)
  if (!match) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number)
  const fraction = match[7] ?? ''
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59)
    return undefined
  const offsetMs = (offsetHour * 60 + offsetMinute) * (match[8] === '-' ? -60_000 : 60_000)
  const startMs = minuteStart([year, month, day, hour, minute]) - offsetMs
  // A leap second ends a UTC day (RFC 3339 §5.7).
  if (second === 60 && new Date(startMs).toISOString().slice(-13, -8) !== '23:59') return undefined
  const epochMs = startMs + second * 1000 + Number(`0.${fraction || '0'}`) * 1000
  const roundingMs = fraction.length > 3 ? Math.abs(epochMs) * Number.EPSILON : 0
  return { epochMs, unitMs: 10 ** (3 - fraction.length) + roundingMs }
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false
  const { protocol, username, password } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === ''
}

function isRequestUrl(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return text !== ''
  return isBaseUrl(text.replace(/[?#].*$/s, ''))
}

/** The formats of the schemas. Those of ajv-formats also accept `urn:uuid:` and a blank in place of T. */
export const formats = {
  uuid: isUuid,
  'date-time': (text: string): boolean => parseDateTime(text) !== undefined,
  date: (text: string): boolean => parseDateTime(`${text}T00:00:00Z`) !== undefined,
  'base-url': isBaseUrl,
  'request-url': isRequestUrl,
}
