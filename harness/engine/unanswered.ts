import type { HttpResult } from '../http/message.ts'

/** A request as it is named if it got no answer. */
export interface Named {
  /** What it was, in words for a reader. */
  name(): string
  /** It carries a body: what a server has to read is more likely to bring it down. */
  readonly hasBody: boolean
}

interface Sent {
  readonly request: Named
  readonly sentAt: number
}

/** One request that brought its server down drags at most as many others along as are under way at once. */
const mostNamed = 3
/** What ended without an answer longer ago than this, before the last answer, has nothing to do with an end that comes now, in ms. */
const recentMs = 1000

/** Remembers which requests the target had when it was last heard: one of them may have brought it down. */
export interface Unanswered {
  readonly open: number
  during<T extends HttpResult>(request: Named, send: () => Promise<T>): Promise<T>
  /** `; under way when it stopped: POST … (chat.create/400-malformed-json)`, those with a body first; nothing if none was. */
  sentence(): string
}

export function createUnanswered(): Unanswered {
  const open = new Set<Sent>()
  let lost: (Sent & { readonly endedAt: number })[] = []
  const ended = (sent: Sent, result: HttpResult): void => {
    const endedAt = performance.now()
    if (result.kind === 'answer') lost = lost.filter((other) => endedAt - other.endedAt < recentMs)
    // A request on a connection that nobody took did not reach the target.
    else if (result.cause !== 'refused') lost.push({ ...sent, endedAt })
  }
  return {
    get open() {
      return open.size
    },
    async during(request, send) {
      const sent: Sent = { request, sentAt: performance.now() }
      open.add(sent)
      const result = await send().finally(() => open.delete(sent))
      ended(sent, result)
      return result
    },
    sentence() {
      const inOrder = [...lost, ...open].sort((a, b) => a.sentAt - b.sentAt).map(({ request }) => request)
      const all = [...inOrder.filter(({ hasBody }) => hasBody), ...inOrder.filter(({ hasBody }) => !hasBody)]
      const names = [...new Set(all.map((request) => request.name()))]
      const more = names.length > mostNamed ? `, and ${names.length - mostNamed} more` : ''
      return names.length === 0 ? '' : `; under way when it stopped: ${names.slice(0, mostNamed).join(', ')}${more}`
    },
  }
}
