import type { ServerResponse } from 'node:http'

/** Changes that come within this time go out together, in ms. */
const gatherMs = 120
/** How often a comment is sent, in ms: a connection that is gone is noticed by it. */
const heartbeatMs = 15_000

/** What one message brings up to date. */
export interface Patch {
  /** The version of the page after it. */
  readonly version: number
  /** Markup by the id of the element that it replaces. */
  readonly parts: Readonly<Record<string, string>>
  readonly state: unknown
}

/** The pages that are open, each brought up to date by server-sent events. */
export interface Live {
  /** Adds a page that shows that version. */
  open(response: ServerResponse, version: number): void
  /** Something changed. */
  changed(): void
  close(): void
}

/** @param patchSince what changed since that version */
export function createLive(patchSince: (version: number) => Patch): Live {
  const pages = new Map<ServerResponse, number>()
  let timer: NodeJS.Timeout | undefined
  const send = (page: ServerResponse, since: number): void => {
    const patch = patchSince(since)
    pages.set(page, patch.version)
    // JSON has no line feed in it, so it is one line of data.
    page.write(`id: ${patch.version}\nevent: patch\ndata: ${JSON.stringify(patch)}\n\n`)
  }
  const sendAll = (): void => {
    timer = undefined
    for (const [page, since] of pages) send(page, since)
  }
  const heartbeat = setInterval(() => pages.forEach((_, page) => page.write(':\n\n')), heartbeatMs)
  heartbeat.unref()
  return {
    open(response, version) {
      response.on('close', () => pages.delete(response))
      send(response, version)
    },
    changed: () => void (timer ??= setTimeout(sendAll, gatherMs)),
    close() {
      clearTimeout(timer)
      clearInterval(heartbeat)
      for (const page of pages.keys()) page.end()
    },
  }
}
