import { createRequire } from 'node:module'
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js'
import { type Report, type RequirementResult, sections } from '../harness/report/index.ts'
import { xmlAttribute, xmlText } from './escape/xml.ts'
import { byOperation, type OperationGroup } from './view/groups.ts'
import { runErrors, runNotes } from './view/standing.ts'
import { evidenceText, type TestStatus, testStatuses } from './view/evidence.ts'

type StatusOf = (result: RequirementResult) => TestStatus

/**
 * JUnit XML as Jenkins reads it: a suite an operation, a case a requirement, an error if the run itself is no success. It has
 * a failure or an error exactly if the exit code is not 0.
 */
export function renderJunit(report: Report): string {
  const errors = runErrors(report)
  const statusOf = testStatuses(report)
  // Loaded when XML is written: other formats do not need it.
  const { create } = createRequire(import.meta.url)('xmlbuilder2') as typeof import('xmlbuilder2')
  const document = create({ version: '1.0', encoding: 'UTF-8' })
  const root = document.ele('testsuites', {
    name: xmlAttribute(`conformance of ${report.target.name}`),
    tests: String(report.requirements.length + errors.length),
    failures: String(countOf(report.requirements, statusOf, 'failed')),
    errors: String(errors.length),
    time: seconds(report.run.durationMs),
  })
  if (errors.length > 0) runSuite(root, report, errors)
  for (const group of byOperation(report)) operationSuite(root, report, { ...group, statusOf })
  return `${document.end({ prettyPrint: true })}\n`
}

interface SuiteOfOperation extends OperationGroup {
  readonly statusOf: StatusOf
}

function operationSuite(root: XMLBuilder, report: Report, { operation, results, statusOf }: SuiteOfOperation): void {
  const suite = root.ele('testsuite', {
    name: xmlAttribute(operation),
    tests: String(results.length),
    failures: String(countOf(results, statusOf, 'failed')),
    errors: '0',
    skipped: String(countOf(results, statusOf, 'skipped')),
    time: seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0)),
    timestamp: timestamp(report),
  })
  const list = suite.ele('properties')
  for (const [name, value] of properties(report)) list.ele('property', { name, value: xmlAttribute(value) })
  for (const result of results) testCase(suite, result, statusOf(result))
}

function runSuite(root: XMLBuilder, report: Report, errors: readonly string[]): void {
  const suite = root.ele('testsuite', {
    name: 'run',
    tests: String(errors.length),
    failures: '0',
    errors: String(errors.length),
    skipped: '0',
    time: '0.000',
    timestamp: timestamp(report),
  })
  errors.forEach((error, at) => {
    const message = xmlAttribute(error)
    suite
      .ele('testcase', { name: `run/${at + 1}`, classname: 'run', time: '0.000' })
      .ele('error', { message, type: 'run' })
  })
}

function countOf(results: readonly RequirementResult[], statusOf: StatusOf, kind: TestStatus['kind']): number {
  return results.filter((result) => statusOf(result).kind === kind).length
}

/** Start of the run in UTC, without fraction and zone, as the format wants it. */
function timestamp(report: Report): string {
  return xmlAttribute(report.run.startedAt.slice(0, 19))
}

/** Properties of the run that a reader of one test suite must know, by name. */
function properties(report: Report): [name: string, value: string][] {
  const { exit, run, suite, target, verdict, verdicts } = report
  return [
    ['target', target.name],
    ['baseUrl', target.baseUrl],
    ['verdict', verdict],
    ['verdict.exact', verdicts.exact],
    ['verdict.family', verdicts.family],
    ['exit', `${exit.code}: ${exit.because}`],
    ['seed', String(run.seed)],
    ['suite', `${suite.name} ${suite.version}`],
    ['requirementsDigest', suite.requirementsDigest],
    ...(run.shard === null ? [] : ([['shard', run.shard]] as [string, string][])),
    ...runNotes(report).map((note): [string, string] => ['note', note]),
  ]
}

/** A requirement as a test case. What does not decide, or was not judged, is skipped and says why: JUnit has no other word. */
function testCase(suite: XMLBuilder, result: RequirementResult, { kind, message = '' }: TestStatus): void {
  const element = suite.ele('testcase', {
    name: xmlAttribute(result.id),
    classname: xmlAttribute(result.operation),
    time: seconds(result.durationMs),
  })
  if (kind === 'failed') {
    const asked = `${result.level} (${sections(result.section)}): ${result.statement}`
    element
      .ele('failure', { message: xmlAttribute(message), type: result.level })
      .txt(xmlText([asked, ...result.failures.map(evidenceText)].join('\n\n')))
  }
  if (kind === 'skipped') element.ele('skipped', { message: xmlAttribute(message) })
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
