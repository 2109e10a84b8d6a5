/** What the cases of a refusal come to, as tables of what each of them shows: no server, no clock. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allOf, type CaseRule, type CaseVerdict, generatedBy } from '../../suites/checks/rules.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import { plainReason } from '../../harness/report/index.ts'
import { Journal } from '../../harness/journal/journal.ts'

const limits = { settleMs: 0, jobTimeoutMs: 0 }
const exchange = {} as Exchange
const evidenceOf = (what: string) => ({ exchange, what, expected: '400' })
const request = (name: string) => ({
  name,
  source: () => Promise.reject(new Error('nothing is sent')),
  purpose: { requirement: null, role: 'probe' } as const,
})

/** What a word says of a case: `?`: it asks; in brackets: the others are still judged; `after`: after the others; `late`: at the end of the run. */
function ruleOf(word: string, at: number): CaseRule {
  const what = `case ${at + 1}`
  const [, outcome = ''] = /(\w+|\?)(?=\)|$)/.exec(word) ?? []
  const verdicts: Readonly<Record<string, CaseVerdict>> = {
    held: { outcome: 'held', cases: 1 },
    broken: { outcome: 'broken', evidence: evidenceOf(what) },
    name: { outcome: 'name', evidence: evidenceOf(what) },
    open: { outcome: 'open', why: { reason: `nobody knows ${what}` } },
    '?': { outcome: 'asks', asks: [request(what)] },
  }
  return {
    judge: () => verdicts[outcome]!,
    ...(word.includes('late') && { when: 'at the end' }),
    ...(word.includes('after') && { when: 'after the others' }),
    isFurther: word.startsWith('('),
  }
}

function told(story: string, inOrder = false): string {
  const verdict = allOf(story.split(', ').map(ruleOf), { inOrder })(new Journal(limits))
  if (verdict.outcome === 'held') return `held ${verdict.cases}`
  if (verdict.outcome === 'open') return plainReason(verdict.why).reason
  if (verdict.outcome === 'broken')
    return `broken: ${verdict.evidence.map(({ what }) => what).join(', ')}`
  const names = verdict.asks.map((one) => one.name).join(', ')
  return verdict.atEnd ? `asks at the end: ${names}` : `asks: ${names}`
}

test.each([
  ['held, held', 'held 2'],
  ['held, ?, ?', 'asks: case 2, case 3'],
  ['held, ?, broken', 'broken: case 3'],
  ['?, ?, ?, held, ?, ?, ?', 'asks: case 1, case 2, case 3, case 5, case 6'],
  ['open, broken', 'broken: case 2'],
  ['open, ?', 'nobody knows case 1'],
  ['name, ?', 'asks: case 2'],
  ['name, held', 'broken: case 1'],
  ['name, broken', 'broken: case 2, case 1'],
  ['name, open', 'broken: case 1'],
  ['held, (open), held', 'nobody knows case 2; 1 of 3 cases were not judged'],
  ['(open), ?', 'asks: case 2'],
  ['(open), broken', 'broken: case 2'],
  ['(open)', 'nobody knows case 1'],
  ['(open), (open)', 'nobody knows case 1'],
  ['?, after ?', 'asks: case 1'],
  ['held, after ?', 'asks: case 2'],
  ['?, late ?', 'asks: case 1'],
  ['held, late ?', 'asks at the end: case 2'],
  ['held, late broken', 'broken: case 2'],
])('%s: %s', (story, expected) => {
  expect(told(story)).toBe(expected)
})

test('in order one is asked for after the other', () => {
  expect(told('held, ?, ?', true)).toBe('asks: case 2')
})

test('of generated cases the smallest broken one is reported, with its path', () => {
  const find = generatedBy({
    arbitrary: fc.integer({ min: 0, max: 1000 }),
    seed: 1,
    numRuns: 10,
    ruleOf: (value): CaseRule => ({
      judge(journal) {
        // Only whether it was tried matters here, not the answer.
        if (!journal.unsent.has(`${value}`)) return { outcome: 'asks', asks: [request(`${value}`)] }
        return value < 17
          ? { outcome: 'held', cases: 1 }
          : { outcome: 'broken', evidence: evidenceOf(`${value}`) }
      },
    }),
  })
  const journal = new Journal(limits)
  for (let times = 0; times < 100; times++) {
    const { asks } = find(journal)
    if (asks.length === 0) break
    for (const one of asks) journal.unsent.set(one.name, { reason: 'nothing is sent' })
  }
  const [found] = find(journal).verdicts
  expect(found).toMatchObject({ outcome: 'broken', evidence: { what: '17' } })
  expect(found).toHaveProperty('evidence.path')
})

test('the search ends after some smaller cases, however many there are', () => {
  let made = 0
  const find = generatedBy({
    arbitrary: fc.string({ minLength: 200, maxLength: 300, size: 'max' }).map((text) => {
      made++
      return text
    }),
    seed: 1,
    numRuns: 1,
    ruleOf: (text): CaseRule => ({
      judge: () =>
        made < 5
          ? { outcome: 'broken', evidence: evidenceOf(text) }
          : { outcome: 'held', cases: 1 },
    }),
  })
  expect(find(new Journal(limits)).verdicts).toMatchObject([{ outcome: 'broken' }])
  expect(made).toBeLessThan(100)
})
