import { doubleQuoted, singleQuoted } from '../shell-word.ts'
import { type FailureExchange, inProcessUrl, type RecordedRequest, redacted } from './recorded.ts'

type Expanded = ReadonlySet<string>

/**
 * A one-line shell command that resends the request: keys come from the environment; bytes and invisible characters go
 * through base64. Headers that curl sets by itself are omitted.
 * @param isNameless the request was sent without a User-Agent, which curl would add
 */
export function curlOf(request: RecordedRequest, expanded: Expanded, isNameless = false): string {
  const url = expanded.has(':url') ? doubleQuoted(request.url) : singleQuoted(request.url)
  const parts = ['curl', '-sS', '-i', '-X', request.method, '--path-as-is', url]
  if (request.headers['accept-encoding']) parts.push('--compressed')
  for (const [name, value] of Object.entries(request.headers)) {
    if (['host', 'content-length', 'accept-encoding'].includes(name)) continue
    const line = value === '' ? `${name};` : `${name}: ${value}`
    parts.push('-H', expanded.has(name) ? doubleQuoted(line) : singleQuoted(line))
  }
  if (isNameless) parts.push('-H', 'user-agent:')
  const remarks = remarksOn(request)
  const isText = request.bodyEncoding === undefined
  if (!isText || /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(request.body)) {
    const bytes = isText ? Buffer.from(request.body).toString('base64') : request.body
    return `printf %s ${singleQuoted(bytes)} | base64 -d | ${parts.join(' ')} --data-binary @-${remarks}`
  }
  if (request.body !== '' || request.headers['content-length'] === '0') {
    parts.push('--data-binary', singleQuoted(request.body))
  }
  return parts.join(' ') + remarks
}

export const remarkMark = '  # '

function remarksOn({ bodyLength, headers, body, url }: RecordedRequest): string {
  const remarks = [
    bodyLength !== undefined && `the body is truncated here: ${bodyLength} bytes in all`,
    /\[.*\]/.test(headers['authorization'] ?? '') &&
      'its key is not available: the words in brackets describe it',
    url.startsWith(`${inProcessUrl}/`) &&
      'the target is a handler in the same process: no port is open',
    `${url} ${body}`.includes(redacted) && `${redacted} replaces a key`,
  ]
  const shown = remarks.filter((remark) => remark !== false)
  return shown.length > 0 ? remarkMark + shown.join('; ') : ''
}

export function curlOfBoth(first: FailureExchange, second: FailureExchange): string {
  const isPlain = (exchange: FailureExchange): boolean =>
    exchange.curl.startsWith('curl ') && !exchange.curl.includes(remarkMark)
  if (isPlain(first) && isPlain(second))
    return `${first.curl} --next ${second.curl.slice('curl '.length)}`
  const { method, url } = first.request
  return `${second.curl}${remarkMark}this request alone does not reproduce it: send it after ${method} ${url} on one connection`
}
