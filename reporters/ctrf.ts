import { type Report, type RequirementResult, sections } from '../harness/report/index.ts'
import { json, visible, visibleLines } from './text.ts'
import { evidenceText, type TestStatus, testStatuses } from './view/evidence.ts'
import { byOperation, runErrors, allNotes } from './view/standing.ts'

/**
 * Common Test Report Format 0.0: one test per requirement, with our own outcome in `rawStatus`. A failed test `run`
 * comes first if the run itself failed, so that a test fails exactly if the exit code is not 0.
 */
export function renderCtrf(report: Report): string {
  const { run, suite, target } = report
  const start = Date.parse(run.startedAt)
  const stop = start + Math.round(run.durationMs)
  const errors = runErrors(report)
  const statusOf = testStatuses(report)
  const tests = [
    ...runTest(report, errors),
    ...report.requirements.map((result) => testOf(result, statusOf(result))),
  ]
  return `${json(
    {
      reportFormat: 'CTRF',
      specVersion: '0.0.0',
      timestamp: new Date(stop).toISOString(),
      generatedBy: `${suite.name} ${suite.version}`,
      results: {
        tool: { name: suite.name, version: suite.version },
        summary: {
          ...counts(tests),
          suites: byOperation(report).length,
          start,
          stop,
          duration: stop - start,
        },
        tests,
        environment: {
          reportName: `conformance of ${target.name}`,
          testEnvironment: target.name,
          healthy: errors.length === 0,
          extra: { baseUrl: target.baseUrl, targetDigest: target.digest },
        },
        extra: {
          exit: report.exit,
          verdict: report.verdict,
          summary: report.summary,
          seed: run.seed,
          tpe: run.tpe,
          notes: [...allNotes(report), ...errors],
          specVersion: suite.specVersion,
          requirementsDigest: suite.requirementsDigest,
        },
      },
    },
    2,
  )}\n`
}

function testOf(result: RequirementResult, testStatus: TestStatus) {
  return {
    testId: result.id,
    name: result.id,
    status: testStatus.kind,
    duration: Math.round(result.durationMs),
    suite: [result.operation],
    ...(testStatus.message === undefined ? {} : { message: visible(testStatus.message) }),
    ...(result.outcome === 'failed'
      ? {
          trace: visibleLines(result.failures.map((failure) => evidenceText(failure)).join('\n\n')),
        }
      : {}),
    rawStatus: result.outcome,
    tags: [result.level],
    labels: { level: result.level, section: sections(result.section), control: result.control },
    type: 'conformance',
    extra: {
      statement: result.statement,
      cases: result.cases,
      rerun: result.failures.map((failure) => failure.rerun),
    },
  }
}

function runTest(report: Report, errors: readonly string[]) {
  if (errors.length === 0) return []
  const message = visible(errors.join('; '))
  return [
    {
      testId: 'run',
      name: 'run',
      status: 'failed',
      duration: 0,
      message,
      rawStatus: `exit ${report.exit.code}`,
    },
  ]
}

function counts(tests: readonly { readonly status: string }[]) {
  const of = (wanted: string) => tests.filter((test) => test.status === wanted).length
  return {
    tests: tests.length,
    passed: of('passed'),
    failed: of('failed'),
    skipped: of('skipped'),
    pending: 0,
    other: 0,
  }
}
