import { levels } from './view/writing.ts'
import { type Report, type RequirementResult, sections } from '../harness/report/index.ts'
import { byOperation } from './view/groups.ts'
import { runErrors, allNotes } from './view/standing.ts'
import { evidenceText, type TestStatus, testStatuses } from './view/evidence.ts'
import { createRequire } from 'node:module'
import { visible, visibleLines, withoutCommands } from './escape.ts'

/**
 * JUnit XML in Jenkins' dialect: one suite per operation, one case per requirement, an error if the run itself failed.
 * It has a failure or an error exactly if the exit code is not 0.
 */
export function renderJunit(report: Report): string {
  const statusOf = testStatuses(report)
  const errors = runErrors(report).map((message, at): TestCase => {
    return {
      name: `run/${at + 1}`,
      classname: 'run',
      found: { kind: 'error', message, type: 'run' },
    }
  })
  const operations = byOperation(report).map(({ operation, results }) => ({
    name: operation,
    properties: properties(report),
    cases: results.map((result) => testCase(result, statusOf(result))),
  }))
  const suites: TestSuite[] = [
    ...(errors.length > 0 ? [{ name: 'run', cases: errors }] : []),
    ...operations,
  ]
  const { '@skipped': _, ...all } = counts(suites.flatMap(({ cases }) => cases))
  // In UTC, without fraction and zone, as the format requires.
  const timestamp = xmlAttribute(report.run.startedAt.slice(0, 19))
  return xmlDocument({
    testsuites: {
      '@name': xmlAttribute(`conformance of ${report.target.name}`),
      ...all,
      '@time': seconds(report.run.durationMs),
      testsuite: suites.map(({ cases, name, properties: about = [] }) => ({
        '@name': xmlAttribute(name),
        ...counts(cases),
        '@time': seconds(cases.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0)),
        '@timestamp': timestamp,
        properties: about.length === 0 ? undefined : { property: about.map(property) },
        testcase: cases.map(caseElement),
      })),
    },
  })
}

function properties(report: Report): [name: string, value: string][] {
  const { exit, run, suite, target, verdict } = report
  return [
    ['target', target.name],
    ['baseUrl', target.baseUrl],
    ['verdict', verdict],
    ['exit', `${exit.code}: ${exit.because}`],
    ['seed', String(run.seed)],
    ['suite', `${suite.name} ${suite.version}`],
    ['requirementsDigest', suite.requirementsDigest],
    ...allNotes(report).map((note): [string, string] => ['note', note]),
  ]
}

/**
 * A requirement as a test case. Results that do not decide or were not judged are skipped, with the reason: JUnit has
 * no other state.
 */
function testCase(result: RequirementResult, { kind, message = '' }: TestStatus): TestCase {
  const { id: name, operation: classname, durationMs, level } = result
  if (kind === 'passed') return { name, classname, durationMs }
  if (kind === 'skipped') return { name, classname, durationMs, found: { kind, message } }
  const asked = `${levels[level]} (${sections(result.section)}): ${result.statement}`
  const text = [asked, ...result.failures.map(evidenceText)].join('\n\n')
  return { name, classname, durationMs, found: { kind: 'failure', message, type: level, text } }
}

interface TestCase {
  readonly name: string
  readonly classname: string
  readonly durationMs?: number
  readonly found?: {
    readonly kind: 'failure' | 'error' | 'skipped'
    readonly message: string
    readonly type?: string
    readonly text?: string
  }
}

interface TestSuite {
  readonly name: string
  readonly properties?: readonly (readonly [name: string, value: string])[]
  readonly cases: readonly TestCase[]
}

function property([key, value]: readonly [name: string, value: string]): Element {
  return { '@name': key, '@value': xmlAttribute(value) }
}

function caseElement({ classname, durationMs = 0, found, name }: TestCase): Element {
  return {
    '@name': xmlAttribute(name),
    '@classname': xmlAttribute(classname),
    '@time': seconds(durationMs),
    ...(found && {
      [found.kind]: {
        '@message': xmlAttribute(found.message),
        '@type': found.type,
        '#text': found.text === undefined ? undefined : xmlText(found.text),
      },
    }),
  }
}

function counts(cases: readonly TestCase[]) {
  const of = (kind: string): string =>
    String(cases.filter(({ found }) => found?.kind === kind).length)
  return {
    '@tests': String(cases.length),
    '@failures': of('failure'),
    '@errors': of('error'),
    '@skipped': of('skipped'),
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/** Attributes are `@name`, text is `#text`, children have their names; undefined is omitted. */
export interface Element {
  readonly [name: string]: string | undefined | Element | readonly Element[]
}

/** The indented document. Texts and attributes must already be escaped by the functions below. */
export function xmlDocument(root: Element): string {
  // Loaded on demand.
  const { default: Builder } = createRequire(import.meta.url)(
    'fast-xml-builder',
  ) as typeof import('fast-xml-builder')
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

/** Text of a target in XML: escapes characters that XML 1.0 forbids (§2.2 there), and disguising ones. */
export function xmlText(text: string): string {
  return escaped(visibleLines(text))
}

/** Escapes an attribute, in which parsers turn line feeds and tabs into blanks. */
export function xmlAttribute(text: string): string {
  return escaped(visible(text))
}

const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }

/** Also escapes CI commands, for reports on stdout. */
function escaped(text: string): string {
  return withoutCommands(
    text.replaceAll(/[&<>"]/g, (character) => `&${entities[character]};`),
    (character) => `&#${character.charCodeAt(0)};`,
  )
}
