export interface Selection {
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

/** Whether `--only` and `--skip` leave the id in: every id if `--only` is not given; `--skip` counts after `--only`. */
export function isSelected(id: string, { only, skip }: Selection): boolean {
  if (only.length > 0 && !only.some((pattern) => matchesId(id, pattern))) return false
  return !skip.some((pattern) => matchesId(id, pattern))
}

/** Whether the pattern matches the whole id; `*` matches any characters, `/` included; everything else matches itself. */
export function matchesId(id: string, pattern: string): boolean {
  if (!pattern.includes('*')) return id === pattern
  const source = pattern.split('*').map(escapeRegExp).join('.*')
  return new RegExp(`^${source}$`, 's').test(id)
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
