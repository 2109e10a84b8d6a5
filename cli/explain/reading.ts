import { readFileSync } from 'node:fs'
import { matchesId } from '../../harness/report/selection.ts'
import { packageFile } from '../../schemas/package-file.ts'

/** A paragraph of the readings, and its heading. */
export interface Reading {
  readonly heading: string
  readonly text: string
}

let all: readonly Reading[] | undefined

/** What the readings say of that requirement: each paragraph that names it, by its id or by a pattern. */
export function readingsOf(id: string): Reading[] {
  all ??= paragraphs(readFileSync(packageFile('catalogue/readings.md'), 'utf8'))
  return all.filter(({ text }) => citedIn(text).some((pattern) => matchesId(id, pattern)))
}

/** What a paragraph cites in code marks that may be an id or a pattern of ids. */
function citedIn(text: string): string[] {
  return [...text.matchAll(/`((?:\*|[a-z-]+(?:\.[a-z-]+)?)\/[0-9a-z*-]+)`/g)].map(([, id = '']) => id)
}

function paragraphs(page: string): Reading[] {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [heading = '', ...blocks] = section.split(/\n\n+/)
      return joined(blocks).map((text) => ({ heading: heading.trim(), text }))
    })
}

/** A paragraph of ids in brackets is about the one that follows it. */
function joined(blocks: readonly string[]): string[] {
  const texts: string[] = []
  let about = ''
  for (const block of blocks) {
    if (/^\(`[^)]*\)$/.test(block.trim())) about = `${block.trim()}\n`
    else {
      texts.push(about + block.trim())
      about = ''
    }
  }
  return texts
}

/** The same without the marks of Markdown. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll(/(?<!\w)_([^_]+)_(?!\w)/g, '$1')
}
