import type { Outcome, Report, RequirementResult } from '../harness/report/model.ts'
import { json } from './escape/json.ts'
import { evidenceText, failureSentence } from './view/evidence.ts'
import { byOperation } from './view/by-operation.ts'
import { runErrors } from './view/run-errors.ts'
import { runNotes } from './view/run-notes.ts'
import { sections } from './view/sections.ts'

const status = {
  passed: 'passed',
  failed: 'failed',
  'not-exercised': 'skipped',
  'not-applicable': 'skipped',
} as const satisfies Record<Outcome, string>

/** Common Test Report Format 0.0: a test a requirement; our own outcome stands in `rawStatus`. */
export function renderCtrf(report: Report): string {
  const { run, suite, target } = report
  const start = Date.parse(run.startedAt)
  const stop = start + Math.round(run.durationMs)
  const errors = runErrors(report)
  return `${json(
    {
      reportFormat: 'CTRF',
      specVersion: '0.0.0',
      timestamp: new Date(stop).toISOString(),
      generatedBy: `${suite.name} ${suite.version}`,
      results: {
        tool: { name: suite.name, version: suite.version },
        summary: { ...counts(report), suites: byOperation(report).length, start, stop, duration: stop - start },
        tests: report.requirements.map((result) => testOf(result)),
        environment: {
          reportName: `conformance of ${target.name}`,
          testEnvironment: target.name,
          ...(run.shard === null ? {} : { shardId: run.shard }),
          healthy: errors.length === 0,
          extra: { baseUrl: target.baseUrl, targetDigest: target.digest },
        },
        extra: {
          verdict: report.verdict,
          verdicts: report.verdicts,
          summary: report.summary,
          seed: run.seed,
          tpe: run.tpe,
          notes: [...runNotes(report), ...errors],
          specVersion: suite.specVersion,
          requirementsDigest: suite.requirementsDigest,
        },
      },
    },
    2,
  )}\n`
}

function testOf(result: RequirementResult) {
  return {
    testId: result.id,
    name: result.id,
    status: status[result.outcome],
    duration: Math.round(result.durationMs),
    suite: [result.operation],
    ...messageOf(result),
    rawStatus: result.outcome,
    tags: [result.level],
    labels: { level: result.level, section: sections(result.section), control: result.control },
    type: 'conformance',
    extra: { statement: result.statement, cases: result.cases, rerun: result.failures.map(({ rerun }) => rerun) },
  }
}

function messageOf(result: RequirementResult): { message?: string; trace?: string } {
  if (result.outcome === 'failed') {
    return { message: failureSentence(result), trace: result.failures.map(evidenceText).join('\n\n') }
  }
  return result.reason === undefined ? {} : { message: result.reason }
}

function counts({ requirements }: Report) {
  const of = (wanted: string) => requirements.filter(({ outcome }) => status[outcome] === wanted).length
  return {
    tests: requirements.length,
    passed: of('passed'),
    failed: of('failed'),
    skipped: of('skipped'),
    pending: 0,
    other: 0,
  }
}
