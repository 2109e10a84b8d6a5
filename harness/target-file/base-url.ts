/** Finds what is wrong with a base URL, in words that do not repeat it (it may hold credentials); undefined if nothing is. */
export function baseUrlProblem(text: string): string | undefined {
  const whole = withScheme(text)
  if (whole !== undefined) return `has no scheme; did you mean ${whole}?`
  if (!URL.canParse(text)) return 'is not a URL; write one like https://staging.example.com'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'must hold no credentials; use keys and headers instead'
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
  // A word alone is more likely a slip than a host.
  if (port === undefined && !host.includes('.') && host !== 'localhost') return undefined
  const isNear = port !== undefined || /^(localhost|\[|\d+\.\d+\.\d+\.\d+)/.test(text)
  const whole = `${isNear && port !== ':443' ? 'http' : 'https'}://${text}`
  return URL.canParse(whole) ? whole : undefined
}

/** The base URL that paths are put to: in normal form, without a slash at its end. */
export function normalBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}
