import { groupBy } from '../../harness/group-by.ts'
import { terminalText } from '../../reporters/escape.ts'
import { requiredChecks } from '../../reporters/view/excused.ts'
import { verdictWords } from '../../reporters/view/standing.ts'
import { firstOf } from '../../reporters/view/writing.ts'
import { operationsIn } from './statement.ts'
import type { Predicate } from './statement-schema.ts'

/**
 * Lines about the claims of a certificate. Names and reasons come from the signer, so control characters are removed.
 */
export function claimLines(claims: Predicate): string[] {
  const { excused, failed, notExercised, run, suite, target } = claims
  const unserved = claims.operations
    .filter((operation) => operation.state === 'not-served')
    .map(({ id, answered = 'not probed' }) => `${id} (answered ${answered})`)
  const judged = operationsIn(claims, 'judged')
  const some = (what: string, names: readonly string[]) =>
    names.length > 0 ? [`${what}: ${listed(names)}`] : []
  const lines = [
    verdictLine(claims),
    ...claims.partial.map((reason) => `partial: ${reason}`),
    `operations judged: ${judged.length} of ${claims.operations.length} (${judged.join(', ')})`,
    `operations not served: ${listed(unserved)}`,
    ...some('operations removed', operationsIn(claims, 'removed')),
    ...some('operations not tested', operationsIn(claims, 'not-tested')),
    `requirements not tested: ${notExercised.length}`,
    ...byReason(notExercised),
    `requirements excused (unreachable): ${excused.length}`,
    ...byReason(excused),
    ...some('requirements failed', failed),
    `mode: ${modeOf(run)}; runs: ${run.runs}; seed: ${run.seed}`,
    `run: ${run.startedAt}, version ${suite.version} of the suite, version ${suite.specVersion} of the interface`,
    `target: ${target.baseUrl}, named ${JSON.stringify(target.name)}`,
    `valid: ${claims.issuedAt} to ${claims.expiresAt}`,
  ]
  return lines.map((line) => terminalText(line, Infinity))
}

function verdictLine({ verdict, summary, excused, run, partial, ...claims }: Predicate): string {
  const notes = [
    ...(run.tpe === 'family' ? ['family names'] : []),
    ...(run.depth === 'quick' ? ['quick'] : []),
    ...(partial.length > 0 ? ['partial'] : []),
  ]
  const mode = notes.length > 0 ? ` (${notes.join(', ')})` : ''
  return `${verdictWords[verdict].word}${mode}: ${requiredChecks(summary.must, {
    excused: excused.filter((one) => one.level === 'must').length,
    notServed: claims.operations.filter((operation) => operation.state === 'not-served').length,
  })}`
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? '0' : `${names.length} (${names.join(', ')})`
}

function byReason(requirements: readonly { readonly id: string; readonly reason: string }[]) {
  return [...groupBy(requirements, (one) => one.reason)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([reason, of]) => {
      const ids = firstOf(
        of.map((one) => one.id),
        5,
      )
      return `  ${of.length}: ${reason} (${ids.join(', ')})`
    })
}

function modeOf({ ca, credentialProbes, depth, insecure, proxy, strict, tpe }: Predicate['run']) {
  return [
    tpe === 'exact' ? 'exact names' : 'family names',
    depth,
    ...(strict ? ['strict'] : []),
    ...(credentialProbes === 'few' ? ['few wrong keys'] : []),
    ...(proxy === null ? [] : [`through the proxy ${proxy}`]),
    ...(ca ? ['own certificate authority (tls.ca)'] : []),
    ...(insecure ? ['TLS not verified (--insecure)'] : []),
  ].join(', ')
}
