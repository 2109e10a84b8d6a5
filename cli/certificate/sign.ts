import { Command } from '@commander-js/extra-typings'
import { type KeyObject, createPublicKey, createHash } from 'node:crypto'
import {
  parseReport,
  readBytes,
  type Absence,
  inconsistencies,
  type Report,
} from '../../harness/report/index.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { conditions } from '../../schemas/report.ts'
import { UserError } from '../../harness/user-error.ts'
import { tell, checkOutputs, writeAtomically } from '../../library/output.ts'
import { firstOf, terminalText } from '../../reporters/text.ts'
import { whole } from '../run/arguments.ts'
import { encodeEnvelope, signEnvelope } from './envelope.ts'
import { pemOf, readPrivateKey } from './keys.ts'
import { catalogue, requirementsDigest, specDigest } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import {
  PREDICATE_TYPE,
  type Predicate,
  type Statement,
  STATEMENT_TYPE,
} from './statement-schema.ts'
import { groupBy, largestFirst } from '../../harness/group-by.ts'
import { ofNone, requiredChecks, verdictWords } from '../../reporters/view/standing.ts'

export function command() {
  return new Command('sign')
    .description('sign a certificate for the JSON report of a complete, conformant run')
    .argument('<report.json>', 'report of conform --report json')
    .requiredOption('--private-key <pem>', 'Ed25519 private key; conform keygen makes one')
    .option('--out <file>', 'certificate file to write', 'conform-certificate.json')
    .option(
      '--valid-days <n>',
      `validity in days from the run; at most ${MOST_VALID_DAYS}`,
      whole(1, MOST_VALID_DAYS),
      VALID_DAYS,
    )
    .option(
      '--partial',
      'sign a run that is incomplete or not conformant; the certificate says why',
    )
    .action(async (path, { out, partial = false, privateKey: keyFile, validDays }) => {
      const output = { path: out, option: `--out ${out}` }
      checkOutputs([output], { [path]: path, [keyFile]: keyFile })
      const bytes = readBytes(path)
      const key = await readPrivateKey(keyFile)
      const options = { now: new Date(), validDays, partial, key }
      const { certificate, claims } = signReport(path, bytes, options)
      await writeAtomically(out, certificate)
      tell(process.stdout, [
        'signed:',
        ...claimLines(claims).map((line) => `  ${line}`),
        `${out} written; check it with: conform verify ${shellWord(out)} --report ${shellWord(path)}`,
      ])
    })
}

interface SignOptions {
  readonly now: Date
  readonly validDays: number
  readonly partial: boolean
  readonly key: KeyObject
}

/** The certificate of a report. Throws UserError with the reasons if it must not be signed. */
export function signReport(path: string, bytes: Buffer, options: SignOptions) {
  const { key, now, partial, validDays } = options
  const report = parseReport(bytes.toString('utf8'), path)
  const refuseFor = (problem: string): UserError =>
    new UserError(`${path}: cannot be signed: ${problem}`)
  const problems = reportProblems(report)
  if (problems.length > 0) throw refuseFor(firstOf(problems, 5).join('; '))
  const issuedAt = now.toISOString()
  const end = daysAfterRun(report.run.startedAt, issuedAt, validDays)
  if (end <= now.getTime())
    throw refuseFor(`${validDays} days after the run (--valid-days) have passed`)
  const expiresAt = new Date(end).toISOString()
  const publicKey = pemOf(createPublicKey(key))
  const statement = makeStatement(report, bytes, { issuedAt, expiresAt, publicKey })
  const reasons = [...statement.predicate.partial, ...foreignReasons(report.suite)]
  if (!partial && reasons.length > 0)
    throw refuseFor(`${reasons.join('; ')}; --partial signs it and lists these reasons`)
  const claims = { ...statement.predicate, partial: reasons }
  const payload = Buffer.from(JSON.stringify({ ...statement, predicate: claims }))
  return { certificate: encodeEnvelope(signEnvelope(PAYLOAD_TYPE, payload, key)), claims }
}

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

export const DAY_MS = 86_400_000
/** Validity in days from the start of the run: default and maximum. */
export const VALID_DAYS = 180
export const MOST_VALID_DAYS = 400
const MOST_DAYS_BEFORE = 7
const DEFAULT_RUNS = 25

/** Makes all claims of a certificate. `verify --report` makes them again with the same time of issue, and compares. */
export function makeStatement(
  report: Report,
  bytes: Buffer,
  issue: Pick<Predicate, 'issuedAt' | 'expiresAt' | 'publicKey'>,
): Statement {
  const { requirements, run, suite, summary, target, verdict } = report
  const conditionsOfRun = Object.keys(conditions) as (keyof typeof conditions)[]
  const claims = {
    suite,
    target,
    verdict,
    summary,
    operations: operationsOf(report),
    excused: requirements.flatMap((one) =>
      one.why?.kind === 'unreachable'
        ? [{ id: one.id, level: one.level, reason: one.why.note }]
        : [],
    ),
    notExercised: requirements.flatMap((one) =>
      one.outcome === 'not-exercised' ? [{ id: one.id, reason: one.reason ?? '' }] : [],
    ),
    failed: requirements
      .filter((requirement) => requirement.outcome === 'failed')
      .map((requirement) => requirement.id),
    run: {
      ...Object.fromEntries(conditionsOfRun.map((name) => [name, run[name]])),
      baseline: run.baseline !== null,
    } as Predicate['run'],
    issuedAt: issue.issuedAt,
    expiresAt: issue.expiresAt,
    publicKey: issue.publicKey,
  }
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: 'conformance-report', digest: { sha256: sha256(bytes) } }],
    predicateType: PREDICATE_TYPE,
    predicate: { ...claims, partial: partialReasons(claims) },
  }
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function operationsOf(report: Report): Predicate['operations'] {
  return operations.map((one) => {
    const results = report.requirements.filter((requirement) => requirement.operation === one.id)
    const isDeclared = (absence: Absence) =>
      results.some(
        (result) =>
          result.why?.kind === 'absent' && !result.why.seenBy && result.why.absence === absence,
      )
    if (isDeclared('removed')) return { id: one.id, state: 'removed' }
    if (isDeclared('not-served')) {
      const asked = report.run.notServed.find((other) => other.operation === one.id)
      return { id: one.id, state: 'not-served', ...(asked && { answered: asked.answered }) }
    }
    const isJudged = results.some(
      (result) => result.outcome === 'passed' || result.outcome === 'failed',
    )
    return { id: one.id, state: isJudged ? 'judged' : 'not-tested' }
  })
}

export function operationsIn(claims: Predicate, state: Predicate['operations'][number]['state']) {
  return claims.operations.filter((one) => one.state === state).map((operation) => operation.id)
}

export function partialReasons(claims: Omit<Predicate, 'partial'>): string[] {
  const { run, verdict } = claims
  const days = (Date.parse(claims.issuedAt) - Date.parse(run.startedAt)) / DAY_MS
  const isFewRuns = run.depth === 'full' && run.runs < DEFAULT_RUNS
  const answering = claims.operations.filter(
    (operation) => operation.state === 'not-served' && !ofNone.includes(operation.answered ?? ''),
  )
  return reasonsIn([
    [verdict !== 'conformant', `the verdict is ${verdict}`],
    [run.interrupted, 'the run was interrupted'],
    [run.only.length > 0, `only a part was judged (--only ${run.only.join(', ')})`],
    [run.skip.length > 0, `a part was left out (--skip ${run.skip.join(', ')})`],
    [run.readOnly, 'nothing was created or generated (--read-only)'],
    [run.baseline, 'failures were expected (--baseline)'],
    [run.insecure, 'TLS certificates were not verified (--insecure)'],
    [run.tpe === 'family', 'any error name of the right family passed (--tpe family)'],
    [run.depth === 'quick', 'one case of each kind was sent (--depth quick)'],
    [isFewRuns, `--runs was ${run.runs} instead of ${DEFAULT_RUNS}`],
    [run.credentialProbes === 'few', 'few wrong keys were tried (credentialProbes: few)'],
    ...answering.map((one): [boolean, string] => [
      true,
      `${one.id} is declared not served, but ${one.answered === undefined ? 'was not probed' : `answered ${one.answered}`}`,
    ]),
    [days < 0, `the run started after the signing, at ${run.startedAt}`],
    [
      days > MOST_DAYS_BEFORE,
      `the run started more than ${MOST_DAYS_BEFORE} days before the signing`,
    ],
  ])
}

export function foreignReasons(suite: Predicate['suite']): string[] {
  const by = `version ${suite.version} of the suite judged`
  return reasonsIn([
    [suite.requirementsDigest !== requirementsDigest(), `${by} by other requirements`],
    [suite.specDigest !== specDigest, `${by} by another text of the interface`],
  ])
}

export function reasonsIn(rules: readonly (readonly [holds: boolean, reason: string])[]): string[] {
  return rules.flatMap(([holds, reason]) => (holds ? [reason] : []))
}

/** Contradictions in a report, or requirements of its `requirementsDigest` that it does not list exactly once. */
export function reportProblems(report: Report): string[] {
  const found = inconsistencies(report)
  if (report.suite.requirementsDigest !== requirementsDigest()) return found
  const results = new Map(report.requirements.map((result) => [result.id, result]))
  for (const { id, level, operation } of catalogue) {
    const result = results.get(id)
    if (!result) found.push(`${id} is missing`)
    else if (result.level !== level || result.operation !== operation)
      found.push(
        `${id} is a ${result.level} of ${result.operation}, not a ${level} of ${operation}`,
      )
    results.delete(id)
  }
  return [...found, ...[...results.keys()].map((id) => `${id} is not a requirement`)]
}

/** Epoch ms of that many days after the run, or after signing if the run is in the future. */
export function daysAfterRun(startedAt: string, issuedAt: string, days: number): number {
  return Math.min(Date.parse(startedAt), Date.parse(issuedAt)) + days * DAY_MS
}

/**
 * Lines about the claims of a certificate. Names and reasons come from the signer, so control characters are removed.
 */
export function claimLines(claims: Predicate): string[] {
  const { excused, failed, notExercised, run, suite, target } = claims
  const unserved = claims.operations
    .filter((operation) => operation.state === 'not-served')
    .map((operation) => `${operation.id} (answered ${operation.answered ?? 'not probed'})`)
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

function verdictLine(claims: Predicate): string {
  const { run } = claims
  const notes = [
    ...(run.tpe === 'family' ? ['family names'] : []),
    ...(run.depth === 'quick' ? ['quick'] : []),
    ...(claims.partial.length > 0 ? ['partial'] : []),
  ]
  const mode = notes.length > 0 ? ` (${notes.join(', ')})` : ''
  return `${verdictWords[claims.verdict].word}${mode}: ${requiredChecks(claims.summary.must, {
    excused: claims.excused.filter((one) => one.level === 'must').length,
    notServed: claims.operations.filter((operation) => operation.state === 'not-served').length,
  })}`
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? '0' : `${names.length} (${names.join(', ')})`
}

function byReason(requirements: readonly { readonly id: string; readonly reason: string }[]) {
  return largestFirst(groupBy(requirements, (one) => one.reason)).map(([reason, of]) => {
    const ids = of.map((one) => one.id)
    return `  ${of.length}: ${reason} (${firstOf(ids, 5).join(', ')})`
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
