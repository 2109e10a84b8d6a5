import { operations } from '../../catalogue/operations.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RecordedEntry } from './entry.ts'

/**
 * Finds the base URL of a recording: the most frequent text before `/v1/` in requests to operations, else in the first
 * URL with `/v1/`; undefined if there is none. Throws UserError for a tie.
 */
export function likeliestBaseUrl(
  entries: readonly RecordedEntry[],
  file: string,
): string | undefined {
  const counts = new Map<string, number>()
  for (const { method, url } of entries) {
    for (const { base, path } of splits(url))
      counts.set(base, (counts.get(base) ?? 0) + (operationAt(method, path) ? 1 : 0))
  }
  const [first, second] = [...counts].sort((a, b) => b[1] - a[1])
  if (first && second && first[1] > 0 && first[1] === second[1]) {
    throw new UserError(
      `${file}: contains as many requests of the interface to ${first[0]} as to ${second[0]}; choose with --base-url`,
    )
  }
  return first?.[0]
}

function splits(url: string): { base: string; path: string }[] {
  const parsed = httpUrl(url)
  if (!parsed) return []
  const { origin, pathname } = parsed
  return [...pathname.matchAll(/\/v1(?=\/)/g)].map(({ index }) => ({
    base: origin + pathname.slice(0, index),
    path: pathname.slice(index),
  }))
}

/** The path below the base URL (which has no trailing slash); undefined if the URL is not below it. */
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

const templates = operations.flatMap(({ id, method, path, otherPaths }) =>
  [path, ...otherPaths].map((template: string) => {
    const pattern = new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
    return { id, method, template, pattern }
  }),
)

export function operationAt(method: string, path: string) {
  for (const { id, method: of, template, pattern } of templates) {
    const found = method === of ? pattern.exec(path) : null
    if (!found) continue
    const params: Record<string, string> = {}
    for (const [name, segment] of Object.entries(found.groups ?? {}))
      params[name] = decoded(segment)
    return { operation: id, path: template, params }
  }
  return undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
