import { readFileSync } from 'node:fs'
import { XMLParser } from 'fast-xml-parser'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { expect } from 'vitest'
import { validateXML } from 'xmllint-wasm'

type Node = DefaultTreeAdapterTypes.Node
export type Element = DefaultTreeAdapterTypes.Element

/** Every element of a page, in document order. */
export function elements(html: string): Element[] {
  const all: Element[] = []
  const visit = (node: Node) => {
    if ('tagName' in node) all.push(node)
    if ('childNodes' in node) node.childNodes.forEach(visit)
  }
  visit(parse(html))
  return all
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value
}

export function hasClass(element: Element, name: string): boolean {
  return attribute(element, 'class')?.split(' ').includes(name) === true
}

export function textOf(node: Node): string {
  if ('value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : ''
}

export const junitSchema = readFileSync(new URL('./jenkins-junit.xsd', import.meta.url), 'utf8')

export async function validateJunit(contents: string) {
  const schema = { fileName: 'junit.xsd', contents: junitSchema }
  const { errors } = await validateXML({ xml: { fileName: 'report.xml', contents }, schema })
  expect(errors).toEqual([])
}

type Told = { message: string; type: string; '#text': string }
interface Case {
  name: string
  failure?: Told
  error?: Told
  skipped?: Told
}
type Suite = Record<string, string> & { testcase: Case[] }

export function readJunit(xml: string) {
  const parser = new XMLParser({
    ...{ ignoreAttributes: false, attributeNamePrefix: '' },
    isArray: (name) => ['testsuite', 'testcase', 'property'].includes(name),
  })
  const { testsuites: root } = parser.parse(xml) as {
    testsuites: Record<string, string> & { testsuite: Suite[] }
  }
  return { root, suites: root.testsuite, cases: root.testsuite.flatMap(({ testcase }) => testcase) }
}
