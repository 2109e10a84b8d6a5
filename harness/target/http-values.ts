/** Finds what is wrong with a base URL, in words that do not repeat it (it may hold credentials); undefined if nothing is. */
export function baseUrlProblem(text: string): string | undefined {
  const whole = withScheme(text)
  if (whole !== undefined) return `has no scheme; did you mean ${whole}?`
  if (!URL.canParse(text)) return 'is not a URL; write one like https://staging.example.com'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    return 'must hold no credentials; use keys and headers instead'
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `must begin with http:// or https://, not ${url.protocol}`
  if (url.search !== '' || text.includes('?')) return 'must have no query'
  if (url.hash !== '' || text.includes('#')) return 'must have no fragment'
  return undefined
}

/** `localhost:8080` with the scheme that it most likely wants; undefined if it has one, or is no address. */
function withScheme(text: string): string | undefined {
  const address = /^(?:\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(:\d{1,5})?(?:\/[^?#@\s]*)?$/i.exec(text)
  if (!address) return undefined
  const [, port] = address
  const host = text.split(/[:/]/)[0]!
  // A single word is more likely a slip than a host.
  if (port === undefined && !host.includes('.') && host !== 'localhost') return undefined
  const isNear = port !== undefined || /^(localhost|\[|\d+\.\d+\.\d+\.\d+)/.test(text)
  const whole = `${isNear && port !== ':443' ? 'http' : 'https'}://${text}`
  return URL.canParse(whole) ? whole : undefined
}

/** The base URL that paths are put to: in normal form, without a slash at its end. */
export function normalBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}

/** True for a URL with a scheme; any other is relative to the base URL. */
export function isAbsoluteUrl(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(url)
}

/** Headers that frame a message or belong to the connection: the suite sets them itself. */
const framing = [
  ...['content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['upgrade', 'expect', 'te', 'trailer'],
]

/** Finds what makes a text unfit for a header; undefined if it may be sent. */
export function headerValueProblem(value: string): string | undefined {
  if (/[\u0000-\u001f\u007f]/.test(value)) return 'has a control character'
  if (/[^\u0000-\u007f]/.test(value)) return 'has a character that is not ASCII'
  return undefined
}

/** Finds what makes a text unfit for a key; undefined if it may be sent. */
export function keyProblem(value: string): string | undefined {
  if (value === '') return 'is empty'
  if (value !== value.trim()) return 'begins or ends with a blank'
  return headerValueProblem(value)
}

/**
 * Finds what makes a header unfit to be sent.
 * @param insteadOfAuthorization what to do for an Authorization header if the suite sends one of its own
 */
export function headerProblem(
  name: string,
  value: string,
  insteadOfAuthorization?: string,
): string | undefined {
  const lower = name.toLowerCase()
  if (insteadOfAuthorization !== undefined && lower === 'authorization')
    return `is set by the suite itself; ${insteadOfAuthorization}`
  return framing.includes(lower)
    ? 'is set by the suite itself; remove it'
    : headerValueProblem(value)
}
