import { describe, expect, test } from 'vitest'
import type { TargetFile } from '../../harness/target/model.ts'
import { variants } from '../../reference/server.ts'
import { idsOf, judgeReference } from './judge-reference.ts'
import { withoutCleanup, withoutPdf } from './changed-targets.ts'
import { unexercised } from './unexercised.ts'

/** Variants `<id>=<status>-<tpe>` answer another pair; those of different requirements can be on together. */
const otherPairs = variants.filter((variant) => variant.includes('='))
const ways = variants.filter((variant) => !variant.includes('='))

function idOf(variant: string): string {
  return variant.slice(0, variant.indexOf('='))
}

/** Sets of other pairs, none of which holds two of one requirement. */
function together(pairs: readonly string[]): string[][] {
  const sets: string[][] = []
  for (const pair of pairs) {
    const set = sets.find((each) => each.every((other) => idOf(other) !== idOf(pair)))
    if (set) set.push(pair)
    else sets.push([pair])
  }
  return sets
}

/** Ways to conform that meet in one server. */
const combinations: readonly (readonly string[])[] = [
  [
    ...['json/spread', 'json/additional-members', 'json/members-reversed', 'headers/odd-content-type', 'headers/many'],
    ...['connection/chunked', 'compressed/br', 'dates/offset', 'uuids/upper-case', 'ids/numeric'],
    ...['envelope/several-errors', 'envelope/other-language', 'order/body-first', 'unknown-path/401'],
    ...['files/known-by-content', 'jobs/texts-limited'],
  ],
  [
    ...['order/existence-first', 'jobs/no-optional-members', 'clock/hours-behind', 'dates/whole-seconds'],
    ...['envelope/bare-errors', 'connection/closed', 'successes/no-content', 'generation/varying', 'methods/405'],
    ...['requests/unknown-members-rejected', 'requests/nulls-rejected', 'uuids/upper-case-in-retrieval'],
  ],
  [
    ...['throttled/503', 'jobs/fail-now-and-then', 'connection/short-lived', 'ids/json-number', 'compressed/gzip'],
    ...['dates/lower-case', 'models/other-statuses', 'clock/hours-ahead', 'order/rights-last', 'methods/lists'],
    ...['jobs/updated-before-created', 'processing/slow', 'successes/plain-text', 'jobs/readable-late'],
  ],
  [
    ...['throttled/429', 'jobs/instant', 'order/state-first', 'compressed/deflate', 'generation/empty', 'ids/long'],
    ...['dates/long-fraction', 'dates/coarser-in-retrieval', 'envelope/full-extras', 'successes/other-2xx'],
  ],
]

function isRemoval(variant: string): boolean {
  return variant.startsWith('pdf-removed')
}

/** Nothing failed, neither `must` nor `should`, and not exercised is what the table lists. */
async function expectConforming(on: readonly string[]): Promise<void> {
  const removed = on.some(isRemoval)
  const change = (file: TargetFile) => (removed ? withoutPdf(withoutCleanup(file)) : withoutCleanup(file))
  // Jobs of the slow application last long enough for the requests beside them, on a busy machine too.
  const slowJobMs = on.includes('jobs/readable-late') ? 1800 : 1000
  const { results } = await judgeReference({ variants: on, jobMs: 15, slowJobMs }, { change })
  const problems = results
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'not-exercised')
    .map(({ id, reason, failures: [first] }) => `${id}: ${reason ?? `${first?.message} | ${first?.actual}`}`)
  const listed = new Set(on.flatMap((variant) => unexercised[variant]?.ids ?? []))
  expect(idsOf(results, 'failed'), problems.join('\n')).toEqual([])
  expect(new Set(idsOf(results, 'not-exercised')), problems.join('\n')).toEqual(listed)
}

describe.concurrent('fails nothing, and exercises all but what is listed, under', { timeout: 120_000 }, () => {
  for (const variant of ways) test(variant, () => expectConforming([variant]))
  together(otherPairs).forEach((set, at) => {
    test(`other pairs, set ${at + 1}: ${set.length} of them`, () => expectConforming(set))
  })
  combinations.forEach((set, at) => {
    test(`combination ${at + 1}: ${set.length} variants`, () => expectConforming(set))
  })
})

test('every variant is on in some server, and the table names none that does not exist', () => {
  expect(new Set([...ways, ...together(otherPairs).flat()])).toEqual(new Set(variants))
  expect([...Object.keys(unexercised), ...combinations.flat()].filter((name) => !variants.includes(name))).toEqual([])
})
