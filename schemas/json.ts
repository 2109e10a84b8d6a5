/** JSON values: pointers (RFC 6901), members, merge patches (RFC 7396), previews. */

function split(pointer: string): readonly string[] {
  if (pointer === '') return []
  const tokens = pointer.slice(1).split('/')
  return pointer.includes('~')
    ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    : tokens
}

/** Pointers come from records and target files: a run has hundreds, and reads each of them hundreds of times. */
const known = new Map<string, readonly string[]>()

/** For pointers of our own: each is kept. */
export function tokensOf(pointer: string): readonly string[] {
  let tokens = known.get(pointer)
  if (!tokens) known.set(pointer, (tokens = split(pointer)))
  return tokens
}

/**
 * Formats a pointer: `/resources/application/inputs/0/id` becomes `resources.application.inputs[0].id`; names are cut
 * at `longestName`.
 */
export function memberPath(pointer: string, longestName = Infinity): string {
  // It may name members of an answer, which nothing keeps.
  return split(pointer).reduce((path, token) => {
    if (/^\d+$/.test(token)) return `${path}[${token}]`
    const name = token.slice(0, longestName)
    return path === '' ? name : `${path}.${name}`
  }, '')
}

function step(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, token)) {
    return (value as Record<string, unknown>)[token]
  }
  return undefined
}

export function getAt(value: unknown, pointer: string): unknown {
  return tokensOf(pointer).reduce(step, value)
}

/** Whether a value can be put there: into an object, or at an index of an array. */
export function hasParent(value: unknown, pointer: string): boolean {
  const at = pointer.lastIndexOf('/')
  if (at === -1) return true
  const parent = getAt(value, pointer.slice(0, at))
  return Array.isArray(parent) ? /^\d+$/.test(pointer.slice(at + 1)) : isObject(parent)
}

/** Returns a copy with `replacement` at the pointer, adding the member if needed; `undefined` removes it. */
export function setAt(value: unknown, pointer: string, replacement: unknown, depth = 0): unknown {
  const tokens = tokensOf(pointer)
  const token = tokens[depth]
  if (token === undefined) return replacement
  if (typeof value !== 'object' || value === null) throw new Error(`no parent at ${pointer}`)
  const isRemoved = replacement === undefined && depth === tokens.length - 1
  const inside = setAt(step(value, token), pointer, replacement, depth + 1)
  if (Array.isArray(value)) {
    const items = (value as unknown[]).slice()
    if (isRemoved) items.splice(Number(token), 1)
    else items[token === '-' ? items.length : Number(token)] = inside
    return items
  }
  if (!isRemoved) return { ...value, [token]: inside }
  const { [token]: _removed, ...others } = value as Record<string, unknown>
  return others
}

export function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** JSON Merge Patch (RFC 7396): `null` removes a member, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  }
  return Object.fromEntries(merged)
}

/** Longest text of a value in a message, in characters. */
const longest = 60
const deepest = 4

/** Writes one member at a time, so that a huge or deeply nested value costs no more than what is shown. */
function write(value: unknown, depth: number, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (value === null || ['boolean', 'number'].includes(typeof value)) return String(value)
  if (typeof value !== 'object') return 'absent'
  const [open, close] = Array.isArray(value) ? (['[', ']'] as const) : (['{', '}'] as const)
  if (depth === deepest) return `${open}…${close}`
  let text: string = open
  for (const [place, key] of Object.keys(value).entries()) {
    if (text.length > room) break
    if (place > 0) text += ','
    if (!Array.isArray(value)) text += `${JSON.stringify(key.slice(0, room))}:`
    text += write(
      (value as Record<string, unknown>)[key],
      depth + 1,
      Math.max(0, room - text.length),
    )
  }
  return text + close
}

const cut = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : text

/** A JSON value as text of at most 60 characters. */
export const preview = (value: unknown): string => cut(write(value, 0, longest))

const longestCompared = 20_000
/** Characters shown before the first difference. */
const shownBefore = 20

/** Two different values as text, starting shortly before their first difference if their beginnings look the same. */
export function previews(one: unknown, other: unknown): readonly [string, string] {
  const short = [preview(one), preview(other)] as const
  if (short[0] !== short[1]) return short
  const [first, second] = [write(one, 0, longestCompared), write(other, 0, longestCompared)]
  let at = 0
  while (at < first.length && first[at] === second[at]) at++
  if (first === second) return short
  const shown = (text: string): string =>
    cut(`…${text.slice(Math.max(0, at - shownBefore)).replace(/^[\udc00-\udfff]/, '')}`)
  return [shown(first), shown(second)]
}
