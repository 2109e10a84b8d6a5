import { UserError } from '../harness/user-error.ts'
import { operationAt } from './operation-at.ts'

type Line = Readonly<{ method: string; url: string }>

/** The base URLs that recorded requests may have, while they are read. */
export interface BaseUrlCounts {
  see(request: Line): void
  /**
   * The one that is meant: what is before `/v1/` if most of them name operations of the interface; if none does, before the
   * first `/v1/`. Throws UserError if two have as many; undefined if there is no such URL.
   */
  likeliest(file: string): string | undefined
}

export function createBaseUrlCounts(): BaseUrlCounts {
  const counts = new Map<string, number>()
  return {
    see({ method, url }) {
      for (const { base, path } of splits(url)) {
        counts.set(base, (counts.get(base) ?? 0) + (operationAt(method, path) ? 1 : 0))
      }
    },
    likeliest(file) {
      const [first, second] = [...counts].sort((a, b) => b[1] - a[1])
      if (first && second && first[1] > 0 && first[1] === second[1]) {
        throw new UserError(
          `${file}: holds as many requests of the interface to ${first[0]} as to ${second[0]}; say with --base-url which is meant`,
        )
      }
      return first?.[0]
    },
  }
}

/** Each way to split a URL before a `/v1/`. */
function splits(url: string): { base: string; path: string }[] {
  const parsed = httpUrl(url)
  if (!parsed) return []
  const { origin, pathname } = parsed
  return [...pathname.matchAll(/\/v1(?=\/)/g)].map(({ index }) => ({
    base: origin + pathname.slice(0, index),
    path: pathname.slice(index),
  }))
}

/** The path of a URL under the base URL, which has no slash at its end; undefined if it is not below that. */
export function pathUnder(baseUrl: string, url: string): string | undefined {
  const parsed = httpUrl(url)
  if (!parsed) return undefined
  const whole = parsed.origin + parsed.pathname
  return whole.startsWith(`${baseUrl}/`) ? whole.slice(baseUrl.length) : undefined
}

function httpUrl(url: string): URL | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed?.protocol === 'http:' || parsed?.protocol === 'https:' ? parsed : undefined
}
