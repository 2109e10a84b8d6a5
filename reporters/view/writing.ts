import type { Counts, Outcome } from '../../harness/report/index.ts'

/** Formats ms: `340 ms`, `12.3 s`, `2 min 5 s`, `3 h 10 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The first items; if there are more, the last one gives their number. */
export function firstOf(all: readonly string[], most: number, rest = 'more'): string[] {
  return all.length <= most ? [...all] : [...all.slice(0, most), `and ${all.length - most} ${rest}`]
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/**
 * Compact JSON: values that fit are on one line, others indented by two.
 * @param taken columns before the value on the first line
 */
export function compactJson(
  value: unknown,
  width: number,
  indent = '',
  taken = indent.length,
): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const names = Object.entries(value).map(([name, member]): [string, unknown] => [
    Array.isArray(value) ? '' : `${JSON.stringify(name)}: `,
    member,
  ])
  const isFlat = Object.values(value).every(
    (one) => Object.keys(Object(one) as object).length === 0 || typeof one === 'string',
  )
  const line = `${open}${names.map(([name, member]) => name + compactJson(member, Infinity)).join(', ')}${close}`
  if (taken + line.length < width) return line
  const deeper = `${indent}  `
  const lines = names.map(
    ([name, member]) =>
      deeper + name + compactJson(member, width, deeper, deeper.length + name.length),
  )
  const shown = isFlat
    ? filled(
        lines.map((one) => one.trim()),
        width,
        deeper,
      )
    : lines.join(',\n')
  return `${open}\n${shown}\n${indent}${close}`
}

function filled(members: readonly string[], width: number, indent: string): string {
  const lines: string[] = []
  for (const one of members) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + one.length + 3 < width)
      lines[lines.length - 1] = `${last}, ${one}`
    else lines.push(indent + one)
  }
  return lines.join(',\n')
}

/** How something is shown, never by colour alone. `tone` is its CSS class. */
export interface Mark {
  readonly sign: string
  readonly word: string
  readonly tone: string
}

/** How people read the levels that files call must and should. */
export const levels = { must: 'required', should: 'recommended' } as const

/** Signs of outcomes, equal in all reports. */
export const outcomes = {
  passed: { sign: '✓', word: 'Passed', tone: 'p', member: 'passed' },
  failed: { sign: '✗', word: 'Failed', tone: 'f', member: 'failed' },
  'not-exercised': { sign: '○', word: 'Not tested', tone: 'm', member: 'notExercised' },
  'not-applicable': { sign: '–', word: 'Not applicable', tone: 'n', member: 'notApplicable' },
} as const satisfies Record<Outcome, Mark & { member: keyof Counts }>

/** Outcomes, and left out by an option. */
export const kinds = {
  ...outcomes,
  'left-out': { sign: '⊘', word: 'Left out', tone: 'n' },
} as const satisfies Record<string, Mark>
