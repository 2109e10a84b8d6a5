/** A uuid in the sense of §2.3 and §2.4: 8-4-4-4-12 hexadecimal digits in either case, without `urn:uuid:`. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
}

interface Instant {
  /** Milliseconds since 1970-01-01T00:00:00Z; fractional if the text is finer. */
  readonly epochMs: number
  /**
   * One unit of the last digit in ms: 1000 without a fraction, 1 for three digits. Below a millisecond it includes the
   * rounding of `epochMs`, so that adjacent instants are never further apart.
   */
  readonly unitMs: number
}

// RFC 3339 §5.6: T and Z in either case, no blank in place of T, a colon in the offset.
const shape =
  /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):([0-5]\d|60)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i

/** Parses a date-time by RFC 3339 §5.6; undefined for anything else. */
export function parseDateTime(text: string): Instant | undefined {
  const [match, day, time, second, fraction = '', sign, offsetHour = 0, offsetMinute = 0] =
    shape.exec(text) ?? []
  const minute = `${day}T${time}`
  const minuteMs = Date.parse(`${minute}Z`)
  // Node takes 30 February for 2 March.
  const isReal = !Number.isNaN(minuteMs) && new Date(minuteMs).toISOString().startsWith(minute)
  if (match === undefined || !isReal) return undefined
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  const startMs = minuteMs - (sign === '-' ? -offsetMs : offsetMs)
  // A leap second ends a UTC day (RFC 3339 §5.7).
  if (second === '60' && new Date(startMs).toISOString().slice(-13, -8) !== '23:59')
    return undefined
  const epochMs = startMs + Number(second) * 1000 + Number(`0.${fraction || '0'}`) * 1000
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
