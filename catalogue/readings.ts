import { readFileSync } from 'node:fs'
import { packageFile } from '../schemas/package-file.ts'

/** A paragraph of `readings.md`, in its Markdown, and the ids and patterns that it names. */
interface Reading {
  readonly text: string
  readonly patterns: readonly RegExp[]
}

let readings: readonly Reading[] | undefined

/** How the interface is read where that requirement comes from, a paragraph of Markdown each; none if nothing was unclear. */
export function readingsOf(id: string): string[] {
  readings ??= read()
  return readings.filter(({ patterns }) => patterns.some((pattern) => pattern.test(id))).map(({ text }) => text)
}

function read(): Reading[] {
  const text = readFileSync(packageFile('catalogue/readings.md'), 'utf8')
  // A paragraph of the page begins with what it is about, in bold.
  const paragraphs = text.split(/\n{2,}/).filter((paragraph) => paragraph.startsWith('**'))
  return paragraphs.map((paragraph) => ({ text: paragraph, patterns: patternsIn(paragraph) }))
}

/** An id, or a pattern in which `*` is any characters. */
function patternsIn(paragraph: string): RegExp[] {
  const ids = [...paragraph.matchAll(/`([a-z*][\w.*-]*\/[\w*-]+)`/g)].map(([, id]) => id!)
  return ids.map((id) => new RegExp(`^${id.replaceAll('.', '\\.').replaceAll('*', '.*')}$`))
}
