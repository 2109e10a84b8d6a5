import type { Change } from './change.ts'
import { jsonChanges } from './json-changes.ts'
import type { ProxiedResponse } from './proxy.ts'

// Neither 429 nor 503: such an answer is asked for again, and the next one is right.
const statuses = [200, 201, 202, 400, 404, 418, 500]
const types = ['text/html', 'text/plain; charset=utf-8', '']

const envelope = JSON.stringify({ tpe: 'InternalError', errors: [], extras: {} })
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

function* all(response: ProxiedResponse): Generator<Change> {
  for (const status of statuses) {
    yield { at: 'status', kind: 'changed', to: String(status), apply: (given) => ({ ...given, status }) }
  }
  for (const type of types) {
    yield {
      at: 'content type',
      kind: type === '' ? 'dropped' : 'changed',
      ...(type === '' ? {} : { to: type }),
      apply({ headers: { 'content-type': _type, ...headers }, ...given }) {
        return { ...given, headers: type === '' ? headers : { ...headers, 'content-type': type } }
      },
    }
  }
  for (const [to, make] of Object.entries(bodies)) {
    const apply = (given: ProxiedResponse): ProxiedResponse => ({
      ...given,
      body: Buffer.from(make(given.body.toString())),
    })
    yield { at: 'body', kind: 'replaced', to, apply }
  }
  yield* jsonChanges(parsed(response))
}

function parsed({ body }: ProxiedResponse): unknown {
  try {
    return JSON.parse(body.toString()) as unknown
  } catch {
    return undefined
  }
}

const textOf = (response: ProxiedResponse): string =>
  JSON.stringify([response.status, response.headers['content-type'], response.body.toString()])

export function differ(one: ProxiedResponse, other: ProxiedResponse): boolean {
  return textOf(one) !== textOf(other)
}

/** Every change to that response that makes another of it. */
export function changesOf(response: ProxiedResponse): Change[] {
  return [...all(response)].filter((change) => differ(change.apply(response), response))
}
