export interface Selection {
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

/** Whether `--only` and `--skip` leave the id in: every id if `--only` is not given; `--skip` counts after `--only`. */
export function isSelected(id: string, { only, skip }: Selection): boolean {
  if (only.length > 0 && !only.some((pattern) => matchesId(id, pattern))) return false
  return !skip.some((pattern) => matchesId(id, pattern))
}

/** Each pattern is held against every id, more than once a run. */
const compiled = new Map<string, RegExp>()

/** Whether the pattern matches the whole id; `*` matches any characters, `/` included; everything else matches itself. */
export function matchesId(id: string, pattern: string): boolean {
  let known = compiled.get(pattern)
  if (known === undefined) {
    const source = pattern.split('*').map(escapeRegExp).join('.*')
    compiled.set(pattern, (known = new RegExp(`^${source}$`, 's')))
  }
  return known.test(id)
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
