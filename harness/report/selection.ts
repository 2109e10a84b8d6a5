export interface Selection {
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

export function isSelected(id: string, selection: Selection): boolean {
  if (selection.only.length > 0 && !selection.only.some((pattern) => matchesId(id, pattern)))
    return false
  return !selection.skip.some((pattern) => matchesId(id, pattern))
}

const longestPattern = 256

export function patternProblem(pattern: string): string | undefined {
  if (pattern.length <= longestPattern) return undefined
  return `a pattern has at most ${longestPattern} characters; this one has ${pattern.length}`
}

/**
 * Whether the pattern matches the whole id; `*` matches any characters, including `/`. An overlong pattern matches
 * nothing.
 */
export function matchesId(id: string, pattern: string): boolean {
  if (pattern.length > longestPattern) return false
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return id === pattern
  if (!id.startsWith(first) || !id.endsWith(last)) return false
  let at = first.length
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + last.length <= id.length
}

const activeEnvelopeRequirements: ReadonlySet<string> = new Set(
  ['unknown-path', 'unsupported-method', 'large-body', 'charset-parameter'].map(
    (name) => `envelope/${name}`,
  ),
)

export function isObserved(id: string): boolean {
  return id.startsWith('envelope/') && !activeEnvelopeRequirements.has(id)
}
