import { catalogue, isRequirementId } from '../../catalogue/catalogue.ts'
import { mayBeUnreachable } from '../../catalogue/needs.ts'
import { matchesId, mostPatterns, patternProblem } from '../report/selection.ts'
import { isDeclared } from './declared.ts'
import { didYouMean } from './nearest.ts'
import type { TargetFile } from './target-file.ts'

/** The requirements that are unreachable, and why: what an entry matches, if it may be unreachable and is not declared nevertheless. */
export function unreachableIds(file: TargetFile): Record<string, string> {
  const entries = Object.entries(file.unreachable ?? {})
  const reasons: Record<string, string> = {}
  for (const row of catalogue) {
    const [, reason] = entries.find(([pattern]) => matchesId(row.id, pattern)) ?? []
    if (reason !== undefined && mayBeUnreachable(row) && !isDeclared(file, row)) reasons[row.id] = reason
  }
  return reasons
}

/** What is wrong with the entries of `unreachable`. */
export function unreachableProblems(file: TargetFile): string[] {
  const entries = Object.keys(file.unreachable ?? {})
  if (entries.length > mostPatterns) return [`unreachable has more than ${mostPatterns} entries`]
  return entries.flatMap((entry) => {
    const problem = patternProblem(entry)
    if (problem !== undefined) return [`unreachable: ${problem}`]
    const path = `unreachable.${entry}`
    const matched = catalogue.filter(({ id }) => matchesId(id, entry))
    if (isRequirementId(entry) && matched.some((row) => isDeclared(file, row) && mayBeUnreachable(row))) {
      return [`${path}: what this requirement needs is declared; remove one of the two`]
    }
    if (matched.some(mayBeUnreachable)) return []
    if (matched.length === 0)
      return [
        `${path} matches no requirement${didYouMean(
          entry,
          catalogue.map(({ id }) => id),
        )}`,
      ]
    return [
      `${path} matches only what the full key and a valid request can reach, and that cannot be declared unreachable`,
    ]
  })
}
