import Builder from 'fast-xml-builder'
import { type Report, type RequirementResult, sections } from '../harness/report/index.ts'
import { levels, markupAttribute, markupText } from './text.ts'
import { evidenceText, testStatuses, type TestStatus } from './view/evidence.ts'
import { byOperation, allNotes, runErrors } from './view/standing.ts'

/**
 * JUnit XML in Jenkins' dialect: one suite per operation, one case per requirement, an error if the run itself failed.
 * It has a failure or an error exactly if the exit code is not 0.
 */
export function renderJunit(report: Report): string {
  const { exit, run, suite, target, verdict } = report
  const statusOf = testStatuses(report)
  const errors = runErrors(report).map((message, at): TestCase => ({
    name: `run/${at + 1}`,
    classname: 'run',
    durationMs: 0,
    error: { '@message': markupAttribute(message), '@type': 'run' },
  }))
  const property = [
    ['target', target.name],
    ['baseUrl', target.baseUrl],
    ['verdict', verdict],
    ['exit', `${exit.code}: ${exit.because}`],
    ['seed', String(run.seed)],
    ['suite', `${suite.name} ${suite.version}`],
    ['requirementsDigest', suite.requirementsDigest],
    ...allNotes(report).map((note) => ['note', note]),
  ].map(([name, value = '']) => ({ '@name': name, '@value': markupAttribute(value) }))
  const suites = [
    ...(errors.length > 0 ? [{ name: 'run', cases: errors }] : []),
    ...byOperation(report).map((one) => ({
      name: one.operation,
      properties: { property },
      cases: one.results.map((result) => testCase(result, statusOf(result))),
    })),
  ]
  const { '@skipped': _, ...all } = counts(suites.flatMap((one) => one.cases))
  return xmlDocument({
    testsuites: {
      '@name': markupAttribute(`conformance of ${target.name}`),
      ...all,
      '@time': seconds(run.durationMs),
      testsuite: suites.map(({ cases, name, ...about }) => ({
        '@name': markupAttribute(name),
        ...counts(cases),
        '@time': seconds(cases.reduce((sum, one) => sum + one.durationMs, 0)),
        // In UTC, without fraction and zone, as the format requires.
        '@timestamp': markupAttribute(run.startedAt.slice(0, 19)),
        ...about,
        testcase: cases.map(({ classname, durationMs, name: id, ...found }) => ({
          '@name': markupAttribute(id),
          '@classname': markupAttribute(classname),
          '@time': seconds(durationMs),
          ...found,
        })),
      })),
    },
  })
}

interface TestCase {
  readonly name: string
  readonly classname: string
  readonly durationMs: number
  readonly failure?: Element
  readonly error?: Element
  readonly skipped?: Element
}

/** Results that do not decide or were not judged are skipped, with the reason: JUnit has no other state. */
function testCase(result: RequirementResult, status: TestStatus): TestCase {
  const { kind, message = '' } = status
  const { id: name, operation: classname, durationMs, level } = result
  const about = { name, classname, durationMs }
  const own = { '@message': markupAttribute(message) }
  if (kind === 'passed') return about
  if (kind === 'skipped') return { ...about, skipped: own }
  const requirement = `${levels[level]} (${sections(result.section)}): ${result.statement}`
  const text = [requirement, ...result.failures.map((failure) => evidenceText(failure))].join(
    '\n\n',
  )
  return { ...about, failure: { ...own, '@type': level, '#text': markupText(text) } }
}

function counts(cases: readonly TestCase[]) {
  return {
    '@tests': String(cases.length),
    '@failures': String(cases.filter((one) => one.failure).length),
    '@errors': String(cases.filter((one) => one.error).length),
    '@skipped': String(cases.filter((one) => one.skipped).length),
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/** Attributes are `@name`, text is `#text`, children have their names; undefined is omitted. */
export interface Element {
  readonly [name: string]: string | undefined | Element | readonly Element[]
}

/** The indented document. Texts and attributes must already be escaped. */
export function xmlDocument(root: Element): string {
  const builder = new Builder({
    attributeNamePrefix: '@',
    format: true,
    ignoreAttributes: false,
    processEntities: false,
    suppressBooleanAttributes: false,
    suppressEmptyNode: true,
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build(root)}`
}
