import type { Report, RequirementResult } from '../../harness/report/model.ts'

/** Requirements that fail by exact code names only: their answers carry another name of the same row of §7.2. */
export function familyNamesOnly(report: Report): RequirementResult[] {
  return report.requirements.filter(
    ({ failures }) => failures.length > 0 && failures.every((failure) => failure.familyOnly),
  )
}

/** One sentence if the two verdicts differ, else undefined. */
export function familySentence(report: Report): string | undefined {
  const { exact, family } = report.verdicts
  if (exact === family) return undefined
  const count = familyNamesOnly(report).length
  const failures = count === 1 ? '1 failure is only a family name' : `${count} failures are only family names`
  return `${failures} (another code name of the same row of §7.2): ${exact} by exact names, ${family} by family names`
}
