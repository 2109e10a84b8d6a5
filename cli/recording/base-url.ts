import { operations } from '../../catalogue/operations.ts'
import type { RecordedEntry } from './entry.ts'

/** The most frequent text before `/v1/` in requests to operations, else in any; undefined if there is none. */
export function likeliestBaseUrl(entries: readonly RecordedEntry[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { method, url } of entries) {
    const { origin = '', pathname = '' } = httpUrl(url) ?? {}
    for (const { index } of pathname.matchAll(/\/v1(?=\/)/g)) {
      const base = origin + pathname.slice(0, index)
      const isOperation = operationAt(method, pathname.slice(index)) !== undefined
      counts.set(base, (counts.get(base) ?? 0) + (isOperation ? 1 : 0))
    }
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0]
}

/** The path below the base URL (which has no trailing slash); undefined if the URL is not below it. */
export function pathUnder(baseUrl: string, url: string): string | undefined {
  const { origin = '', pathname = '' } = httpUrl(url) ?? {}
  const whole = origin + pathname
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
