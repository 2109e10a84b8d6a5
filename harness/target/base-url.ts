/** What is wrong with a base URL, in words that do not repeat it (it may hold credentials); undefined where nothing is. */
export function baseUrlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is no URL; write one like https://staging.example.com'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'must hold no credentials; use keys and headers instead'
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `must begin with http:// or https://, not ${url.protocol}`
  if (url.search !== '' || text.includes('?')) return 'must have no query'
  if (url.hash !== '' || text.includes('#')) return 'must have no fragment'
  return undefined
}

/** The base URL that paths are put to: in normal form, without a slash at its end. */
export function normalBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}
