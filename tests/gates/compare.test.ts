import pc from 'picocolors'
import { expect, test } from 'vitest'
import { renderPage } from '../../cli/compare/page.ts'
import { renderTable } from '../../cli/compare/terminal.ts'
import {
  changesOf,
  type Comparison,
  compareReports,
  differingRows,
} from '../../cli/compare/comparison.ts'
import type { Report, RequirementResult } from '../../harness/report/report-schema.ts'
import { attribute, elements, hasClass, textOf } from '../reporters/html-tree.ts'
import { failed, missed, report, result } from './results.ts'

const plain = pc.createColors(false)

function at(startedAt: string, ...rows: RequirementResult[]) {
  return { path: `${startedAt}.json`, report: report(rows, { startedAt }) }
}

function target(name: string, ...rows: RequirementResult[]) {
  const whole = report(rows)
  return {
    path: `${name}.json`,
    report: { ...whole, target: { ...whole.target, name, baseUrl: `https://${name}` } },
  }
}

const march = at(
  '2026-03-01T00:00:00Z',
  result('a.b/1'),
  failed('a.b/2'),
  result('a.b/3'),
  result('a.b/4'),
)
const april = at(
  '2026-04-01T00:00:00Z',
  failed('a.b/1'),
  result('a.b/2'),
  missed('a.b/3'),
  result('a.b/4'),
)

test('one target over time, oldest first, with what changed', () => {
  const comparison = compareReports([april, march])
  expect(comparison.of).toBe('time')
  expect(comparison.columns.map((column) => column.startedAt)).toEqual([
    '2026-03-01T00:00:00Z',
    '2026-04-01T00:00:00Z',
  ])
  expect(comparison.changes).toEqual([
    { to: 1, newlyFailing: ['a.b/1'], newlyPassing: ['a.b/2'], newlyNotExercised: ['a.b/3'] },
  ])
})

test('several targets stand in the order given, and nothing changed between them', () => {
  const comparison = compareReports([
    target('z', result('a.b/1')),
    target('a', failed('a.b/1'), result('a.b/9')),
  ])
  expect(comparison).toMatchObject({ of: 'targets', changes: [] })
  expect(comparison.columns.map((column) => column.name)).toEqual(['z', 'a'])
  expect(differingRows(comparison).map(({ id, outcomes }) => [id, ...outcomes])).toEqual([
    ['a.b/1', 'passed', 'failed'],
    ['a.b/9', null, 'passed'],
  ])
})

test('reports of both modes are compared in exact', () => {
  const row = failed('a.b/1', { familyOnly: true })
  const family = {
    path: 'f.json',
    report: report([{ ...row, outcome: 'passed' }], { tpe: 'family' }),
  }
  expect(compareReports([family]).rows[0]!.outcomes).toEqual(['passed'])
  const mixed = compareReports([family, target('z', result('a.b/1'))])
  expect(mixed).toMatchObject({ mode: 'exact', columns: [{ verdict: 'non-conformant' }, {}] })
  expect(mixed.rows[0]!.outcomes).toEqual(['failed', 'passed'])
})

const shown = (comparison: Comparison, last?: Report) => changesOf(comparison, last)

test('over time the terminal says first what broke and what was mended, by operation and cause, then the trend', () => {
  const comparison = compareReports([march, april])
  expect(renderTable(comparison, shown(comparison), plain)).toMatchInlineSnapshot(`
    "https://example.com over time (code names exact)
    1  2026-03-01T00:00:00Z  Non-conformant: 1 of 4 musts failed
    2  2026-04-01T00:00:00Z  Non-conformant: 1 of 4 musts failed, 1 not tested

    Broken since: 1
      a.b    1  1
    Mended since: 1
      a.b    1  2
    Passed before, not tested now: 1
      a.b    1  3

    Trend
      1  ██████████████████▒▒▒▒▒▒  3 passed, 1 failed, 0 not tested
      2  ████████████▒▒▒▒▒▒░░░░░░  2 passed, 1 failed, 1 not tested

    1 of 4 requirements are the same in all
    "
  `)
  const before = at('2026-03-01T00:00:00Z', ...['1', '2', '3'].map((name) => result(`a.b/${name}`)))
  const connection = { connection: 'reused' as const }
  const rows = ['1', '2', '3'].map((name) => failed(`a.b/${name}`, connection))
  const after = at('2026-04-01T00:00:00Z', ...rows)
  const broken = compareReports([before, after])
  expect(shown(broken, after.report).groups[0]).toMatchObject({
    title: 'Broken since',
    operations: [['a.b', { length: 3 }]],
  })
})

test('however much has changed, it is told on one screen of 80 columns', () => {
  const operations = Array.from({ length: 12 }, (_, at) => `operation-${at}.run`)
  const rows = (outcome: (id: string) => RequirementResult) =>
    operations.flatMap((operation) =>
      Array.from({ length: 20 }, (_, at) => outcome(`${operation}/4${at}-some-condition`)),
    )
  const turned = (every: number) => (id: string) => {
    const number = Math.floor(Number(/\/4(\d+)/.exec(id)![1]) / every)
    return [failed(id), result(id), missed(id)][number % 3]!
  }
  const comparison = compareReports(
    [1, 3].map((every) => at(`2026-0${every}-01T00:00:00Z`, ...rows(turned(every)))),
  )
  const changes = shown(comparison)
  expect(changes.groups.length).toBeGreaterThan(3)
  const lines = renderTable(comparison, changes, plain, 80).trimEnd().split('\n')
  expect(lines.length).toBeLessThan(40)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
})

test('between targets it shows how many failures each has in each operation, and which differ alike, on one screen', () => {
  const many = Array.from({ length: 60 }, (_, at) => `a.b/${at}`)
  const comparison = compareReports([
    target('z', ...many.map((id) => failed(id))),
    target('a', ...many.map((id) => result(id))),
  ])
  const text = renderTable(comparison, shown(comparison), plain)
  expect(text).toMatch(/^ {2}a\.b +60 ✗ +✓$/m)
  // The other target is the first one.
  expect(text).toMatch(/^ ✗ {2}✓ {4}60 {2}a\.b\/0, and 59 more$/m)
  expect(text.split('\n').length).toBeLessThan(40)
})

test('the page holds every requirement and outcome as text, what newly fails first', () => {
  const page = renderPage(compareReports([march, april]), shown(compareReports([march, april])))
  const rows = elements(page).filter((one) => hasClass(one, 'r'))
  expect(rows.map((row) => textOf(row).slice(0, 5))).toEqual(['a.b/1', 'a.b/2', 'a.b/3', 'a.b/4'])
  expect(textOf(rows[0]!)).toMatch(/^a\.b\/1 must newly failing.*✓Passed✗Failed$/)
  const kinds = ['fails-2', 'fails-1', 'differs', 'same']
  expect(rows.map((row) => attribute(row, 'data-o'))).toEqual(kinds)
  const boxes = elements(page).filter((one) => attribute(one, 'type') === 'checkbox')
  expect(boxes.map((box) => attribute(box, 'value')).toSorted()).toEqual(kinds.toSorted())
  expect(boxes.filter((box) => attribute(box, 'checked') === undefined)).toHaveLength(1)
  expect(page.indexOf('Broken since')).toBeLessThan(page.indexOf('id="trend"'))
  expect(page.indexOf('id="trend"')).toBeLessThan(page.indexOf('id="all"'))
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page.replace(/<script>.*<\/script>/s, '')).not.toMatch(/https?:\/\/(?!example\.com)/)
  expect(page).toContain('default-src &#39;none&#39;; style-src &#39;sha256-')
})

test('names of a target are text in the page and on the terminal', () => {
  const comparison = compareReports([
    target('<img src=x onerror=alert(1)>\u001b[2J', result('a.b/1')),
    march,
  ])
  const page = renderPage(comparison, shown(comparison))
  expect(page).not.toContain('<img')
  expect(page).not.toContain('\u001b')
  expect(renderTable(comparison, shown(comparison), plain)).not.toContain('\u001b')
})
