import { readFileSync } from 'node:fs'
import { catalogue } from '../catalogue/catalogue.ts'
import type { Reading } from '../cli/explain.ts'
import { matchesId } from '../harness/report/index.ts'
import { packageFile } from '../schemas/validate.ts'

/** The questions of catalogue/readings.md that name a requirement, with their answers. */
export function readings(): Reading[] {
  const [, ...questions] = readFileSync(packageFile('catalogue/readings.md'), 'utf8').split(
    /^### /m,
  )
  return questions.flatMap((question) => {
    const [body = ''] = question.split(/^## /m)
    const [heading = '', ...paragraphs] = body.trim().split(/\n\n+/)
    const text = paragraphs.filter((paragraph) => !isIdLine(paragraph)).join('\n\n')
    const about = citedIn(body)
    return about.length > 0 ? [{ heading, text, about }] : []
  })
}

/** A line that contains only ids in code marks. */
const isIdLine = (paragraph: string): boolean => /^`[^`]+`(?:, `[^`]+`)*$/.test(paragraph)

function citedIn(text: string): string[] {
  const patterns = [...text.matchAll(/`((?:\*|[a-z-]+(?:\.[a-z-]+)?)\/[0-9a-z*-]+)`/g)].map(
    ([, id = '']) => id,
  )
  return catalogue
    .map(({ id }) => id)
    .filter((id) => patterns.some((pattern) => matchesId(id, pattern)))
}
