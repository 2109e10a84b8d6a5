import fc from 'fast-check'
import { lexer, marked, type Token } from 'marked'
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'
import { expect, test } from 'vitest'
import { markdownBlock, markdownCode, markdownText } from '../../reporters/escape.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { failed, report } from '../gates/results.ts'
import { hostile, hostilePieces, unsafe } from './hostile.ts'
import { textOf } from './html-tree.ts'
import { fails, mixed, reportOfText, sampleReport } from './sample-report.ts'
import { anyCharacter } from '../support/any-character.ts'

/** Every token of the text, at any depth. */
function tokens(text: string): Token[] {
  const all: Token[] = []
  void marked.walkTokens(lexer(text), (token) => void all.push(token))
  return all
}

const types = (text: string) => [...new Set(tokens(text).map(({ type }) => type))].sort()

test('is short where all passes', () => {
  const text = renderMarkdown(sampleReport())
  expect(text.split('\n').length).toBeLessThan(18)
  expect(text).toContain('## ✅ Conformance of Example staging')
})

test('counts and failures survive', () => {
  const report = sampleReport({ end: mixed })
  const tables = tokens(renderMarkdown(report)).flatMap((token) =>
    token.type === 'table' ? [token] : [],
  )
  const rows = (at: number) =>
    tables[at]!.rows.map((row: { text: string }[]) => row.map(({ text }) => text))
  const { must, should } = report.summary
  expect(rows(0)).toEqual([
    ['must (required)', ...Object.values(must).map(String)],
    ['should (recommended)', ...Object.values(should).map(String)],
  ])
  const failures = report.requirements
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ id }) => `\`${id}\``)
  // One cause, one row: required checks of several operations that were answered alike, and the should.
  expect(
    rows(1)
      .flatMap(([ids]: string[]) => ids!.split(', '))
      .sort(),
  ).toEqual(failures.sort())
  expect(rows(1)[0]![3]).toBe('expected 404 ResourceNotFound, received 404 NotFound')
  expect(tokens(renderMarkdown(report)).filter(({ type }) => type === 'code')).toHaveLength(
    rows(1).length,
  )
})

test('shows the evidence of the first failures only', () => {
  const rows = [1, 2, 3, 4, 5].map((at) => failed(`a.b/${at}`))
  const text = renderMarkdown(report(rows), 3)
  expect(tokens(text).filter(({ type }) => type === 'code')).toHaveLength(3)
})

test.each(hostilePieces)('%j is text and nothing else', (piece) => {
  const markup = 'html link image codespan em strong del heading list table code br escape'.split(
    ' ',
  )
  expect(types(`x ${markdownText(piece)}`)).toEqual(expect.not.arrayContaining(markup))
  expect(types(markdownText(piece))).toEqual(['paragraph', 'text'])
})

test('any text stays one cell of a table, and one block of code', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...hostilePieces)),
      (text) => {
        const [table] = lexer(
          `| a | b |\n| - | - |\n| ${markdownText(text)} | ${markdownCode(text)} |`,
        )
        expect(table).toMatchObject({
          type: 'table',
          rows: [[expect.anything(), expect.anything()]],
        })
        const block = lexer(`${markdownBlock(text)}\n\nafter`).filter(
          ({ type }) => type !== 'space',
        )
        expect(block.map(({ type }) => type)).toEqual(['code', 'paragraph'])
      },
    ),
    { seed: 3 },
  )
})

test('a hostile target adds no structure to the report', () => {
  const render = (text: string) => renderMarkdown(reportOfText(text, 30))
  const shape = (text: string) =>
    tokens(text)
      .map(({ type }) => type)
      .filter((type) => !['text', 'codespan', 'html', 'escape'].includes(type))
  expect(render(hostile)).not.toMatch(unsafe)
  expect(shape(render(hostile))).toEqual(shape(render('plain')))
  const html = tokens(render(hostile)).flatMap((token) =>
    token.type === 'html' ? [token.raw.trim()] : [],
  )
  expect(
    html.filter(
      (tag) =>
        !/^<\/?(details|summary|code)>|^<details(?: open)?>\n<summary>[^<]*<\/summary>$/.test(tag),
    ),
  ).toEqual([])
})

/** The text of a page that a reader sees, without what is code: where GitHub and GitLab look for whom to tell. */
function told(markdown: string): string[] {
  const texts = (node: Node): string[] => {
    if (node.nodeName === 'code' || node.nodeName === 'pre') return []
    return 'value' in node
      ? [node.value]
      : 'childNodes' in node
        ? node.childNodes.flatMap(texts)
        : []
  }
  const finds =
    /(?<!\w)@[a-z0-9]|[#!]\d|(?<!\w)gh-\d|[\w.-]+\/[\w.-]+#\d|\/(issues|pull|discussions|merge_requests)\/\d/gi
  const page = parseFragment(marked.parse(markdown, { async: false }))
  return page.childNodes.flatMap(texts).flatMap((text) => text.match(finds) ?? [])
}
type Node = DefaultTreeAdapterTypes.ChildNode

const telling = [
  'see @octocat and (@org/team)',
  '#12 and org/repo#12, !7',
  'gh-12 GH-12',
  'https://github.com/org/repo/issues/12, gitlab.com/a/b/-/merge_requests/3',
] as const

test.each(telling)('nobody is notified of %s', (text) => {
  expect(told(text)).not.toEqual([])
  expect(told(text.replaceAll(/[@#!]/g, (mark) => `&#${mark.charCodeAt(0)};`))).not.toEqual([])
  expect(told(markdownText(text))).toEqual([])
  expect(told(markdownCode(text))).toEqual([])
  // What a reader sees is the same, but for what takes no room; in code it is exactly the same.
  const seen = (markdown: string) =>
    textOf(parseFragment(marked.parse(markdown, { async: false }))).trimEnd()
  expect(seen(markdownText(text)).replaceAll('\u2060', '')).toBe(text)
  expect(seen(markdownCode(text))).toBe(text)
})

test('nobody is notified of a report, whatever a target answers', () => {
  const text = telling.join(' ')
  const report = sampleReport({
    end: fails(text, { message: text }),
    target: { name: text, baseUrl: text },
  })
  expect(told(renderMarkdown(report))).toEqual([])
})

test('the evidence of up to five failures is open, and that of more is folded', () => {
  const rows = (number: number) =>
    Array.from({ length: number }, (_, at) => failed(`a.b/${at}`, { expected: `e${at}` }))
  expect(renderMarkdown(report(rows(5))).match(/^<details open>$/gm)).toHaveLength(5)
  expect(renderMarkdown(report(rows(6)))).not.toContain('<details open>')
})
