import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { operations } from '../catalogue/operations.ts'
import type { HeaderValue, KeyValue, TargetFile } from '../harness/target/index.ts'
import {
  baseUrlProblem,
  loadTargetFile,
  plainFile,
  normalBaseUrl,
  resolveTarget,
} from '../harness/target/index.ts'
import { UserError } from '../harness/user-error.ts'

/** Counts the base URLs that recorded requests may have, while they are read. */
export function createBaseUrlCounts() {
  const counts = new Map<string, number>()
  return {
    see({ method, url }: { readonly method: string; readonly url: string }): void {
      for (const { base, path } of splits(url)) {
        counts.set(base, (counts.get(base) ?? 0) + (operationAt(method, path) ? 1 : 0))
      }
    },
    /**
     * The one that is meant: what is before `/v1/` if most of them name operations of the interface; if none does, before the
     * first `/v1/`. Throws UserError if two have as many; undefined if there is no such URL.
     */
    likeliest(file: string): string | undefined {
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

const templates = operations.flatMap(({ id, method, path, otherPaths }) =>
  [path, ...otherPaths].map((template: string) => {
    const pattern = new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
    return { id, method, template, pattern }
  }),
)

/** The operation that this method and path (without base URL and query) name; undefined if the interface has none. */
export function operationAt(method: string, path: string) {
  for (const { id, method: of, template, pattern } of templates) {
    const found = method === of ? pattern.exec(path) : null
    if (!found) continue
    const params = Object.entries(found.groups ?? {}).map(([name, segment]) => [
      name,
      decoded(segment),
    ])
    return {
      operation: id,
      path: template,
      params: Object.fromEntries(params) as Record<string, string>,
    }
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

/** Stands if a recording shows no address at all; nothing is judged then. */
const nowhere = 'http://recording.invalid'

/**
 * The target that a recording is held against: a target file, a base URL, both, or the base URL that the recording shows; and
 * warnings, sentences for the user.
 * @param derive the base URL that the recording itself shows, used if none is given
 */
export async function checkTarget(
  { target: path, baseUrl }: { readonly target?: string; readonly baseUrl?: string },
  derive: () => string | undefined = () => undefined,
) {
  const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl)
  if (problem !== undefined) throw new UserError(`--base-url: ${problem}`)
  const { file, dir } = await loadTargetFile(path)
  const address = baseUrl ?? file.baseUrl ?? derive() ?? nowhere
  const given = baseUrlProblem(address) === undefined ? normalBaseUrl(address) : address
  const normal = given.replace(/\/v1$/, '')
  const doubled =
    'the base URL ends in /v1, with which the paths of the interface begin already: it is taken without that'
  // Nothing is sent: of the keys only those matter that can be in the recording, and that are read without asking anybody.
  const atHand = plainFile(file, (value) =>
    isAtHand(value, dir) ? value : undefined,
  ) as TargetFile
  const from = { dir, source: path, env: setOrNot(), baseUrl: normal }
  const { target, warnings } = await resolveTarget(atHand, from)
  const unknown = { name: file.name ?? 'recording', baseUrl: '' }
  const all = normal === given ? warnings : [doubled, ...warnings]
  return { target: address === nowhere ? { ...target, ...unknown } : target, warnings: all }
}

function isAtHand(value: KeyValue | HeaderValue, dir: string): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'function' || 'command' in value) return false
  return 'env' in value || existsSync(resolve(dir, value.file))
}

const neverSent = `unset-${randomUUID()}`

/** The environment; what a variable that is not set would have given is never sent, so that any value will do. */
function setOrNot(): Readonly<Record<string, string | undefined>> {
  return new Proxy(process.env, {
    get: (env, name) => (typeof name === 'string' && env[name]) || neverSent,
  })
}
