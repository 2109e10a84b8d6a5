import { createHash } from 'node:crypto'
import { inconsistencies } from '../harness/report/consistency.ts'
import type { Report } from '../harness/report/model.ts'
import { UserError } from '../harness/user-error.ts'
import type { KnownRequirement, SuiteFacts } from './suite-facts.ts'
import { requirementsIn } from './suite-facts.ts'

/** A report, and what a message calls it. */
export interface NamedReport {
  readonly name: string
  readonly report: Report
}

/** Why a report is that of another suite than the one that is to sign it; empty if it is its own. */
export function foreignReasons({ suite }: Report, own: SuiteFacts): string[] {
  const reasons: [boolean, string][] = [
    [suite.version !== own.version, `version ${suite.version} of the suite judged, and ${own.version} signs`],
    [suite.requirementsDigest !== own.requirementsDigest, 'its requirements are those of another version of the suite'],
    [suite.specDigest !== own.specDigest, 'it was made for another text of the interface than this version has'],
  ]
  return reasons.flatMap(([holds, reason]) => (holds ? [reason] : []))
}

/** Where a report contradicts itself, or does not hold each of the requirements exactly once. */
export function reportProblems(report: Report, requirements: readonly KnownRequirement[]): string[] {
  const judged = new Map(report.requirements.map((result) => [result.id, result]))
  const known = new Set(requirements.map(({ id }) => id))
  const changed = requirements.flatMap(({ id, operation, level }) => {
    const result = judged.get(id)
    if (!result) return [`${id} is missing`]
    return result.level === level && result.operation === operation
      ? []
      : [`${id} is a ${level} of ${operation}, but the report has it as a ${result.level} of ${result.operation}`]
  })
  const strange = [...judged.keys()].filter((id) => !known.has(id)).map((id) => `${id} is not a requirement`)
  return [...inconsistencies(report), ...changed, ...strange]
}

/**
 * The requirements that the report's `requirementsDigest` names: this version's own, or those of a text that has that digest.
 * Throws UserError if neither has it: whether the report holds all of them cannot be looked at.
 * @param text the requirements of a bundle
 */
export function requirementsOf(
  { name, report: { suite } }: NamedReport,
  own: SuiteFacts,
  text?: string,
): KnownRequirement[] {
  if (suite.requirementsDigest === own.requirementsDigest) return requirementsIn(own.requirementsText) ?? []
  const known = text !== undefined && digestOf(text) === suite.requirementsDigest ? requirementsIn(text) : null
  // A version has one set of requirements: one that claims ours with another set is no other version.
  if (known !== null && suite.version !== own.version) return known
  throw new UserError(
    `${name}: its requirements (${suite.requirementsDigest}) are not those of version ${own.version}: ` +
      `whether all of them were judged can be told by version ${suite.version} only, or from a bundle`,
  )
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
