import type { PageCount } from '../report/model.ts'
import { isPage, pageTitle } from './describe.ts'
import type { Exchange } from './exchange.ts'
import { perRun } from './run.ts'

/** Most kinds of pages that a report names. */
const mostKinds = 10
/** The title of a page stands at its beginning, in bytes. */
const headBytes = 4096

/** The error responses of a run that were pages in place of envelopes, by what they were: told once, as one cause. */
export const pagesOf = perRun(() => {
  const counted = new Map<string, PageCount>()
  return {
    observe({ response }: Exchange): void {
      if (!response || response.status < 400 || response.json().ok) return
      const body = response.text(headBytes)
      if (!isPage(response.header('content-type'), body)) return
      const { status } = response
      const page = { status, title: pageTitle(body)?.slice(0, 100), server: response.header('server')?.slice(0, 60) }
      const key = JSON.stringify(page)
      const known = counted.get(key)
      if (known) known.times++
      else if (counted.size < mostKinds) counted.set(key, { ...page, times: 1 })
    },
    /** The most frequent ones first; `clean` takes keys out of what the pages say. */
    counts: (clean: (text: string) => string): PageCount[] =>
      [...counted.values()]
        .toSorted((one, other) => other.times - one.times)
        .map(({ status, title, server, times }) => ({
          status,
          ...(title === undefined ? {} : { title: clean(title) }),
          ...(server === undefined ? {} : { server: clean(server) }),
          times,
        })),
  }
})
