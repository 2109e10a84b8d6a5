import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Rules that look at colours, and those that look at the place of each element: they take most of the time. */
const colours = ['color-contrast', 'link-in-text-block']
const places = ['color-contrast', 'target-size']

interface Violation {
  readonly id: string
  readonly impact: string
  /** The markup of the first element that it was found at. */
  readonly first: string
}

/** All rules; those that other colours can change; whether each element can be hit; all but those that look at the place of each element. */
export type Rules = 'all' | 'of colours' | 'of targets' | 'of structure'

function options(rules: Rules): object {
  const some = { 'of colours': colours, 'of targets': ['target-size'] }
  const run =
    rules in some
      ? { type: 'rule', values: some[rules as keyof typeof some] }
      : { type: 'tag', values: tags }
  const left = rules === 'of structure' ? places : []
  return {
    runOnly: run,
    rules: Object.fromEntries(left.map((rule) => [rule, { enabled: false }])),
    // What passes is not described, which would take half of the time.
    resultTypes: ['violations'],
  }
}

/** Findings of axe, of whatever weight. */
export async function violations(page: Page, rules: Rules = 'all'): Promise<Violation[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  return page.evaluate(
    `axe.run(${JSON.stringify(options(rules))})
      .then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0].html })))`,
  )
}

/**
 * Leaves two of each kind of row, kinds being told by class, outcome and level, and all that are open: the colours and places
 * of three hundred rows take axe half a minute, and those of one kind are alike.
 */
export async function thinOut(page: Page, rows: string): Promise<void> {
  await page.evaluate(`{
    const seen = new Map()
    for (const row of document.querySelectorAll(${JSON.stringify(rows)})) {
      const kind = [row.className, row.dataset.o, row.dataset.l].join()
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
      if (seen.get(kind) > 2 && !row.open) row.remove()
    }
  }`)
}
