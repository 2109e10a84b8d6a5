import { operations } from '../../catalogue/operations.ts'
import type { Report } from '../../harness/report/model.ts'

const modes = { exact: 'exact names', family: 'family names' } as const

/** The verdict with its mode, which a verdict by itself never goes without: `conformant (family names)`. */
export function verdictName({ run, verdict }: Report): string {
  return verdict === 'not-judged' ? verdict : `${verdict} (${modes[run.tpe]})`
}

/** `13 of 17 operations` if some are declared not served, else undefined. */
export function operationsJudged({ requirements, run }: Report): string | undefined {
  const judged = operations.filter(({ id }) =>
    requirements.some(({ operation, outcome }) => operation === id && (outcome === 'passed' || outcome === 'failed')),
  )
  const isAbsent = operations.some(({ id }) => {
    const own = requirements.filter(({ operation }) => operation === id)
    return own.length > 0 && own.every(({ outcome }) => outcome === 'not-applicable')
  })
  if (run.notServed.length === 0 && !isAbsent) return undefined
  return `${judged.length} of ${operations.length} operations`
}
