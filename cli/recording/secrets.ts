import {
  isAuthorization,
  isSecretName,
  redacted,
  type Redactor,
  shortestKey,
} from '../../harness/recording/index.ts'
import type { HeaderLine } from '../../harness/http/index.ts'
import type { RecordedEntry } from './read-har.ts'

/** Placeholders for keys in our own reports: not secrets. */
const placeholder = /^(\$[A-Z_][A-Z0-9_]*|\$\{[A-Z_][A-Z0-9_]*[^}]*\}\w*|\[[^\]]*\])$/

/** Hides every credential of the recording, also those sent elsewhere. */
export function learnSecrets(redactor: Redactor, entries: readonly RecordedEntry[]): void {
  const secrets = new Set(entries.flatMap((entry) => [...credentialsIn(entry)]))
  for (const secret of secrets)
    if (secret !== '' && !placeholder.test(secret)) redactor.add(secret, redacted)
}

function* credentialsIn(recordedEntry: RecordedEntry): Generator<string> {
  for (const { name, value } of recordedEntry.requestHeaders) {
    if (isAuthorization(name)) yield* credentialsOf(value)
    // Many cookies are not secrets: they are hidden only in their headers.
    else if (isSecretName(name) && !/cookie/i.test(name) && value.length >= shortestKey) yield value
  }
  const query = URL.canParse(recordedEntry.url) ? new URL(recordedEntry.url).searchParams : []
  for (const [name, value] of query)
    if (isSecretName(name) && value.length >= shortestKey) yield value
}

/** The secrets in a header value: the part after the scheme, or all of it; for `Basic` also the password alone. */
function credentialsOf(value: string): string[] {
  const [, scheme = '', rest = value] = /^\s*(\S+)\s+(\S.*?)\s*$/s.exec(value) ?? []
  if (scheme.toLowerCase() !== 'basic') return rest === 'Bearer' ? [] : [rest]
  const password = Buffer.from(rest, 'base64').toString().split(':').slice(1).join(':')
  return password.length >= shortestKey ? [rest, password] : [rest]
}

const secretMember =
  /("[\w-]*(?:passw(?:or)?d|secret|api[_-]?key|token)"\s*:\s*")((?:[^"\\]|\\.)+)(?=")/gi
const secretPair = /((?:^|&)[\w-]*(?:passw(?:or)?d|secret|api[_-]?key|token)=)([^&\s]+)/gi

export function withoutSecretMembers(text: string): string {
  const hidden = (whole: string, name: string, value: string): string =>
    placeholder.test(value) ? whole : name + redacted
  return text.replaceAll(secretMember, hidden).replaceAll(secretPair, hidden)
}

export function shownHeader(line: HeaderLine, redactor: Redactor): string {
  if (!isSecretName(line.name)) return redactor.header(line.value)
  if (!isAuthorization(line.name)) return redacted
  const [, scheme = '', rest = line.value] = /^\s*(\S+\s+)?(.*?)\s*$/s.exec(line.value) ?? []
  if (rest === '' || rest === 'Bearer' || placeholder.test(rest)) return line.value
  const shown = redactor.header(line.value)
  return shown.includes(rest) ? scheme + redacted : shown
}

/** A URL without user, password, fragment and keys in the query. */
export function shownUrl(address: string, redactor: Redactor): string {
  const url = new URL(address)
  const query = url.search
    .slice(1)
    .replaceAll(/([^&=]*)=[^&]*/g, (whole, name: string) =>
      isSecretName(name) ? `${name}=${redacted}` : whole,
    )
  return redactor.text(url.origin + url.pathname + (query === '' ? '' : `?${query}`))
}
