import type { HttpAnswer } from '../../harness/http/message.ts'
import { differ, envelope, textOf, withBody, withContentType } from './answer.ts'
import type { Change } from './change.ts'
import { jsonChanges } from './json-changes.ts'

// Neither 429 nor 503: such an answer is asked for again, and the next one is right.
const statuses = [200, 201, 202, 400, 404, 418, 500]
const types = ['text/html', 'text/plain; charset=utf-8', '']

const bodies: Readonly<Record<string, (text: string) => string>> = {
  'half of it': (text) => text.slice(0, text.length / 2),
  'all but its last byte': (text) => text.slice(0, -1),
  'an array of it': (text) => `[${text}]`,
  'twice the same': (text) => text + text,
  nothing: () => '',
  null: () => 'null',
  '{}': () => '{}',
  HTML: () => '<html><body>tea</body></html>',
  'an envelope': () => envelope,
}

function* all(answer: HttpAnswer): Generator<Change> {
  for (const status of statuses) {
    yield { at: 'status', kind: 'changed', to: String(status), apply: (given) => ({ ...given, status }) }
  }
  for (const type of types) {
    const to = type === '' ? { kind: 'dropped' as const } : { kind: 'changed' as const, to: type }
    yield { at: 'content type', ...to, apply: (given) => withContentType(given, type || undefined) }
  }
  for (const [to, make] of Object.entries(bodies)) {
    yield { at: 'body', kind: 'replaced', to, apply: (given) => withBody(given, make(textOf(given))) }
  }
  yield* jsonChanges(parsed(answer))
}

function parsed(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(textOf(answer)) as unknown
  } catch {
    return undefined
  }
}

/** Every change to that answer that makes another of it. */
export function changesOf(answer: HttpAnswer): Change[] {
  return [...all(answer)].filter((change) => differ(change.apply(answer), answer))
}
