import { createHash } from 'node:crypto'
import type { Outcome, Report, RequirementResult } from '../harness/report/model.ts'
import { countOutcomes } from '../harness/report/verdict.ts'
import { operationsOf } from './operations.ts'
import { partialReasons } from './partial.ts'
import {
  type Coverage,
  type Digest,
  type Excluded,
  type NamedDigest,
  type Predicate,
  type RunFacts,
  type Statement,
  PREDICATE_TYPE,
  STATEMENT_TYPE,
} from './statement.ts'

/** What a certificate says beyond its report. */
export interface Issue extends Pick<Predicate, 'issuedAt' | 'expiresAt' | 'publicKey'> {
  readonly suiteDigest: Digest
  /** The recorded exchanges of the run. */
  readonly exchanges: readonly NamedDigest[]
  /** Reasons for partial that the report alone does not tell. */
  readonly foreign: readonly string[]
}

/** Why a certificate of that report, issued then, would be partial. */
export function partialOf(report: Report, issuedAt: string): string[] {
  const { verdicts } = report
  return partialReasons({ run: runFacts(report), verdicts, operations: operationsOf(report), issuedAt })
}

/** Everything that a certificate says: a function of the report, its bytes and the issue alone, so that it can be made again. */
export function makeStatement(report: Report, bytes: Uint8Array, issue: Issue): Statement {
  const { suite, target, requirements } = report
  const { issuedAt, expiresAt, publicKey } = issue
  const run = runFacts(report)
  const operations = operationsOf(report)
  const partial = partialOf(report, issuedAt)
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { name: target.name, uri: target.baseUrl, digest: digestOf(target.digest) },
      { name: 'conformance-report', digest: sha256(bytes) },
      ...issue.exchanges,
    ],
    predicateType: PREDICATE_TYPE,
    predicate: {
      suite: { name: suite.name, version: suite.version, digest: issue.suiteDigest },
      spec: { version: suite.specVersion, digest: digestOf(suite.specDigest) },
      requirements: { count: requirements.length, digest: digestOf(suite.requirementsDigest) },
      targetFile: { digest: digestOf(target.digest) },
      run,
      verdict: report.verdict,
      verdicts: report.verdicts,
      summary: report.summary,
      operations,
      coverage: coverageOf(report),
      notApplicable: excluded(requirements, 'not-applicable'),
      notExercised: excluded(requirements, 'not-exercised'),
      failed: requirements.filter((result) => result.outcome === 'failed').map((result) => result.id),
      partial: [...partial, ...issue.foreign],
      issuedAt,
      expiresAt,
      publicKey,
    },
  }
}

export function sha256(bytes: Uint8Array): Digest {
  return { sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** `sha256:<hex>`, as reports write it, the way in-toto does. */
function digestOf(digest: string): Digest {
  return { sha256: digest.replace(/^sha256:/, '') }
}

function runFacts({ run }: Report): RunFacts {
  const { startedAt, durationMs, seed, runs, requests, tpe, strict, readOnly, only, skip } = run
  const { shard, insecure, interrupted, credentialProbes } = run
  const told = { startedAt, durationMs, seed, runs, requests, tpe, strict, readOnly, only, skip, shard }
  return { ...told, baseline: run.baseline !== null, insecure, interrupted, credentialProbes }
}

function coverageOf({ requirements, run }: Report): Coverage[] {
  return [...new Set(requirements.map((result) => result.operation))].map((operation) => {
    const results = requirements.filter((result) => result.operation === operation)
    const cases = results.reduce((total, result) => total + result.cases, 0)
    return { operation, ...countOutcomes(results, run.tpe), cases }
  })
}

function excluded(results: readonly RequirementResult[], outcome: Outcome): Excluded[] {
  return results
    .filter((result) => result.outcome === outcome)
    .map(({ id, reason = 'no reason given' }) => ({ id, reason }))
}
