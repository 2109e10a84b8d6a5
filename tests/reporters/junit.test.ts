import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { renderJunit } from '../../reporters/junit.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { hostile, unsafe } from './hostile.ts'
import { fails, mixed, reportOfText, sampleReport } from './sample-report.ts'
import { anyCharacter } from '../support/any-character.ts'

const schema = readFileSync(new URL('./jenkins-junit.xsd', import.meta.url), 'utf8')
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  isArray: (name) => ['testsuite', 'testcase', 'property'].includes(name),
})

async function validate(xml: string) {
  const { valid, errors } = await validateXML({
    xml: { fileName: 'report.xml', contents: xml },
    schema: { fileName: 'junit.xsd', contents: schema },
  })
  expect(errors).toEqual([])
  expect(valid).toBe(true)
}

interface Case {
  name: string
  classname: string
  failure?: { message: string; type: string; '#text': string }
  skipped?: { message: string }
  error?: { message: string }
}

function parse(xml: string) {
  const { testsuites } = parser.parse(xml) as {
    testsuites: Record<string, string> & {
      testsuite: (Record<string, string> & { testcase: Case[] })[]
    }
  }
  return {
    root: testsuites,
    suites: testsuites.testsuite,
    cases: testsuites.testsuite.flatMap((suite) => suite.testcase),
  }
}

const count = (report: Report, outcome: string) =>
  report.requirements.filter((one) => one.outcome === outcome).length

test('is valid, and every requirement, count and message survives', async () => {
  const report = sampleReport({ end: mixed })
  const xml = renderJunit(report)
  await validate(xml)
  const { root, suites, cases } = parse(xml)
  expect(cases.map(({ name }) => name)).toEqual(report.requirements.map(({ id }) => id))
  expect(root.tests).toBe('290')
  expect(root.failures).toBe(String(report.summary.must.failed))
  expect(root.errors).toBe('0')
  expect(suites.map(({ name }) => name)).toEqual([
    ...new Set(report.requirements.map(({ operation }) => operation)),
  ])
  for (const [member, name] of [
    ['failure', 'failures'],
    ['skipped', 'skipped'],
  ] as const) {
    for (const suite of suites)
      expect(suite.testcase.filter((one) => one[member]).length).toBe(Number(suite[name]))
  }
  expect(cases.filter(({ skipped }) => skipped).length).toBe(
    count(report, 'not-exercised') + count(report, 'not-applicable') + report.summary.should.failed,
  )
  const failure = cases.find((one) => one.failure)!.failure!
  expect(failure.message).toBe('expected 404 ResourceNotFound, received 404 NotFound')
  expect(failure.type).toBe('must')
  for (const word of ['sent ', 'expected ', 'received ', 'again ', 'curl '])
    expect(failure['#text']).toContain(`\n${word}`)
})

test('a run that judged nothing, was interrupted or has a stale baseline is an error, never green', async () => {
  const nothing = sampleReport({
    size: 30,
    end: () => ({ outcome: 'not-exercised', reason: 'no answer from the target' }),
    run: {
      interrupted: true,
      baseline: {
        file: 'b.json',
        expected: [],
        stale: [{ id: 'x', why: 'it passed' }],
        notExercised: [],
      },
    },
  })
  const xml = renderJunit(nothing)
  await validate(xml)
  const { root, cases } = parse(xml)
  expect(root.errors).toBe('2')
  expect(cases.flatMap(({ error }) => error?.message ?? [])).toEqual([
    'the run was interrupted',
    'stale entry of the baseline: x: it passed',
  ])
})

test('hostile text is well-formed, survives readably and does nothing', async () => {
  const report = reportOfText(hostile, 40, { baseline: null, insecure: true })
  const xml = renderJunit(report)
  await validate(xml)
  expect(xml).not.toMatch(unsafe)
  const { cases } = parse(xml)
  expect(cases).toHaveLength(40)
  expect(cases[1]!.failure!['#text']).toContain('<script>alert(1)</script>')
  expect(cases[1]!.failure!.message).toContain('\\x1b[2J')
  for (const text of [
    cases[1]!.failure!.message,
    cases[1]!.failure!['#text'],
    cases[0]!.skipped!.message,
  ])
    expect(text).toContain(
      '&amp;&#x3c;&lt; <!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>&y;&nbsp;&#0;&#27;&#8238;',
    )
})

test('any text gives well-formed XML', async () => {
  const texts = fc.sample(fc.string({ unit: anyCharacter, maxLength: 60 }), {
    numRuns: 60,
    seed: 7,
  })
  await validate(
    renderJunit(
      sampleReport({ size: 60, end: (at) => fails(texts[at], { message: texts[at] })!(at) }),
    ),
  )
})
