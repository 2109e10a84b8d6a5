import { doubleQuoted, singleQuoted } from '../shell-word.ts'
import type { FailureExchange, RecordedRequest } from './recorded.ts'

/** Placeholder for the base URL of a handler in the same process: nothing listens there. */
export const inProcessUrl = 'http://in-process.localhost'

/** Names of headers whose recorded value names a key, so that the shell has to expand it; `:url` for the address. */
type Expanded = ReadonlySet<string>

/**
 * The command that sends the request again from a shell, on one line: keys are taken from the environment, bytes that are no
 * text go through base64, as does text with line ends. Headers that curl sets by itself are left out.
 */
export function curlOf(request: RecordedRequest, expanded: Expanded): string {
  const url = expanded.has(':url') ? doubleQuoted(request.url) : singleQuoted(request.url)
  const parts = ['curl', '-sS', '-i', '-X', request.method, '--path-as-is', url]
  if (request.headers['accept-encoding']) parts.push('--compressed')
  for (const [name, value] of Object.entries(request.headers)) {
    if (['host', 'content-length', 'accept-encoding'].includes(name)) continue
    const line = value === '' ? `${name};` : `${name}: ${value}`
    parts.push('-H', expanded.has(name) ? doubleQuoted(line) : singleQuoted(line))
  }
  const cut = remarksOn(request)
  const isText = request.bodyEncoding === undefined
  if (!isText || /[\0-\x1f\x7f]/.test(request.body)) {
    const bytes = isText ? Buffer.from(request.body).toString('base64') : request.body
    return `printf %s ${singleQuoted(bytes)} | base64 -d | ${parts.join(' ')} --data-binary @-${cut}`
  }
  if (request.body !== '' || request.headers['content-length'] === '0') {
    parts.push('--data-binary', singleQuoted(request.body))
  }
  return parts.join(' ') + cut
}

/** Why the line does not send what was sent, if it does not. */
function remarksOn({ bodyLength, headers, body, url }: RecordedRequest): string {
  const remarks = [
    bodyLength !== undefined && `the body is cut here: ${bodyLength} bytes in all`,
    /\[.*\]/.test(headers['authorization'] ?? '') && 'its key is not at hand: the words in brackets say which it was',
    url.startsWith(`${inProcessUrl}/`) && 'the target is a handler in a program: nothing listens there',
    `${url} ${body}`.includes('[redacted]') && '[redacted] replaces a key',
  ]
  const shown = remarks.filter((remark) => remark !== false)
  return shown.length > 0 ? `  # ${shown.join('; ')}` : ''
}

/** One curl line that sends both requests on one connection; if they cannot be put together, the second with a remark. */
export function curlOfBoth(first: FailureExchange, second: FailureExchange): string {
  const isPlain = ({ curl }: FailureExchange): boolean => curl.startsWith('curl ') && !curl.includes('  # ')
  if (isPlain(first) && isPlain(second)) return `${first.curl} --next ${second.curl.slice('curl '.length)}`
  const { method, url } = first.request
  return `${second.curl}  # this request alone does not show it: send it after ${method} ${url} on one connection`
}
