import type { HttpAnswer } from '../http/message.ts'

/** The base URL to use instead, if a first answer redirects http to https on the same host. */
export function tlsBaseUrl(baseUrl: string, answer: HttpAnswer): string | undefined {
  const location = answer.headers.find(({ name }) => name.toLowerCase() === 'location')?.value
  if (answer.status < 300 || answer.status > 399 || location === undefined) return undefined
  const from = new URL(baseUrl)
  if (from.protocol !== 'http:' || !URL.canParse(location, baseUrl)) return undefined
  const to = new URL(location, baseUrl)
  if (to.protocol !== 'https:' || to.hostname !== from.hostname) return undefined
  const path = from.pathname === '/' ? '' : from.pathname
  return `https://${to.host}${path}`
}
