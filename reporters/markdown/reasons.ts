import { markdownCode, markdownText } from '../escape/markdown.ts'
import { shortened } from '../view/shortened.ts'
import type { ReasonGroup } from '../view/reasons.ts'

const MOST_IDS = 5

/** Why requirements were not judged: a row each reason, folded away. */
export function reasonTable(title: string, groups: readonly ReasonGroup[]): string[] {
  if (groups.length === 0) return []
  const all = groups.reduce((sum, { ids }) => sum + ids.length, 0)
  return [
    '<details>',
    `<summary>${title}: ${all}</summary>`,
    '',
    '| | reason | requirements |',
    '| ---: | --- | --- |',
    ...groups.map(({ reason, ids }) => `| ${ids.length} | ${markdownText(shortened(reason, 300))} | ${firstOf(ids)} |`),
    '',
    '</details>',
    '',
  ]
}

function firstOf(ids: readonly string[]): string {
  const more = ids.length - MOST_IDS
  return ids.slice(0, MOST_IDS).map(markdownCode).join(', ') + (more > 0 ? `, and ${more} more` : '')
}
