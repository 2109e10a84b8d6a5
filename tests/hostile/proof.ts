import { expect } from 'vitest'
import { memoryPages, validateXML } from 'xmllint-wasm'
import { validate } from '../../schemas/validate.ts'
import { elements, junitSchema } from '../reporters/parsers.ts'
import { unsafe } from '../reporters/hostile.ts'
import { hostileKey, type Shown } from './judge-hostile.ts'

/** The key without its public header. */
const secret = hostileKey.split('.').slice(1).join('.')

/** JUnit reports that are to be looked at, by name. To look at one takes as long as to look at fifty. */
const junitReports: { fileName: string; contents: string }[] = []

/** Proves of each run since the last time that its JUnit report is one. */
export async function proveJunit(): Promise<void> {
  const xml = junitReports.splice(0)
  expect(xml).not.toEqual([])
  const schema = { fileName: 'junit.xsd', contents: junitSchema }
  const found = await validateXML({ xml, schema, maxMemoryPages: memoryPages.max / 4 })
  expect(found.errors).toEqual([])
}

/**
 * Asserts what holds of every run, whatever its target did: it was judged without a mistake, and every report can be read. The
 * JUnit reports are kept by the name of the run for `proveJunit`.
 */
export function proveSound({ report, texts }: Shown, run: string): void {
  const mistakes = report.requirements.filter(({ reason }) =>
    reason?.includes('a mistake of the suite'),
  )
  expect(mistakes.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([])
  expect(validate('report', JSON.parse(texts.json))).toEqual({ valid: true })
  expect(JSON.parse(texts.json)).toEqual(JSON.parse(JSON.stringify(report)))
  for (const name of ['ctrf', 'har'] as const) expect(JSON.parse(texts[name])).toBeTypeOf('object')
  junitReports.push({
    fileName: `${junitReports.length} ${run.replaceAll(/\W+/g, '-')}.xml`,
    contents: texts.junit,
  })
  proveHtml(`<body>${texts.badge}`)
  for (const [name, text] of Object.entries(texts)) {
    expect(unsafe.exec(text)?.[0], `a control character in ${name}`).toBeUndefined()
    expect(text.includes(secret), `the key in ${name}`).toBe(false)
  }
  proveHtml(texts.html)
}

/** The page has its own scripts and no other, no handlers, and links to nowhere else: to its parts, and to itself as filtered. */
function proveHtml(html: string): void {
  const all = elements(html)
  const named = (name: string): number => all.filter(({ tagName }) => tagName === name).length
  expect(named('script')).toBeLessThanOrEqual(1)
  expect(named('img') + named('iframe') + named('object') + named('base')).toBe(0)
  const attributes = all.flatMap(({ attrs }) => attrs)
  expect(attributes.filter(({ name }) => name.startsWith('on'))).toEqual([])
  expect(
    attributes.filter(
      ({ name, value }) => name === 'href' && !/^(#|\?q=)/.test(value) && value !== 'data:,',
    ),
  ).toEqual([])
}
