import { readFileSync } from 'node:fs'
import { catalogue } from '../catalogue/catalogue.ts'
import type { Reading } from '../cli/explain/explanation.ts'
import { matchesId } from '../harness/report/index.ts'
import { packageFile } from '../schemas/package-file.ts'

/** The paragraphs of catalogue/readings.md that name a requirement. */
export function readings(): Reading[] {
  const [, ...sections] = readFileSync(packageFile('catalogue/readings.md'), 'utf8').split(/^## /m)
  return sections.flatMap((section) => {
    const [heading = '', ...blocks] = section.split(/\n\n+/)
    // A paragraph of ids in brackets is about the one that follows it.
    const texts = blocks.join('\n\n').replaceAll(/^(\(`[^)]*\))\n\n/gm, '$1\n')
    const told = texts
      .split('\n\n')
      .map((text) => ({ heading, text: text.trim(), about: citedIn(text) }))
    return told.filter(({ about }) => about.length > 0)
  })
}

/** Requirements that a paragraph cites in code marks, by their ids or by a pattern. */
function citedIn(text: string): string[] {
  const patterns = [...text.matchAll(/`((?:\*|[a-z-]+(?:\.[a-z-]+)?)\/[0-9a-z*-]+)`/g)].map(
    ([, id = '']) => id,
  )
  return catalogue
    .map(({ id }) => id)
    .filter((id) => patterns.some((pattern) => matchesId(id, pattern)))
}
