import fc from 'fast-check'
import { lexer, marked, type Token } from 'marked'
import { expect, test } from 'vitest'
import { markdownBlock, markdownCode, markdownText } from '../../reporters/escape/markdown.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { hostile, hostilePieces, unsafe } from './hostile.ts'
import { fails, mixed, sampleReport } from './sample-report.ts'
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
  expect(text.split('\n').length).toBeLessThan(15)
  expect(text).toContain('## ✅ Conformance of Example staging')
})

test('counts and failures survive', () => {
  const report = sampleReport({ end: mixed })
  const tables = tokens(renderMarkdown(report)).flatMap((token) => (token.type === 'table' ? [token] : []))
  const rows = (at: number) => tables[at]!.rows.map((row: { text: string }[]) => row.map(({ text }) => text))
  const { must, should } = report.summary
  expect(rows(0)).toEqual([
    ['must', ...Object.values(must).map(String)],
    ['should', ...Object.values(should).map(String)],
  ])
  const failures = report.requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => `\`${id}\``)
  // One cause, one row: the musts of several operations that were answered alike, and the should.
  expect(
    rows(1)
      .flatMap(([ids]: string[]) => ids!.split(', '))
      .sort(),
  ).toEqual(failures.sort())
  expect(rows(1)[0]![3]).toBe('expected 404 ResourceNotFound, received 404 NotFound')
  expect(tokens(renderMarkdown(report)).filter(({ type }) => type === 'code')).toHaveLength(2)
})

test('shows the evidence of the first failures only', () => {
  const end = (at: number) => fails(`404 ${at}`, { expected: `what ${at} asks for` })!(at)
  const text = renderMarkdown(sampleReport({ end }), { evidence: 3 })
  expect(tokens(text).filter(({ type }) => type === 'code')).toHaveLength(3)
})

test.each(hostilePieces)('%j is text and nothing else', (piece) => {
  expect(types(`x ${markdownText(piece)}`)).toEqual(
    expect.not.arrayContaining([
      'html',
      'link',
      'image',
      'codespan',
      'em',
      'strong',
      'del',
      'heading',
      'list',
      'table',
      'code',
      'br',
      'escape',
    ]),
  )
  expect(types(markdownText(piece))).toEqual(['paragraph', 'text'])
})

test('any text stays one cell of a table, and one block of code', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...hostilePieces)), (text) => {
      const [table] = lexer(`| a | b |\n| - | - |\n| ${markdownText(text)} | ${markdownCode(text)} |`)
      expect(table).toMatchObject({ type: 'table', rows: [[expect.anything(), expect.anything()]] })
      const block = lexer(`${markdownBlock(text)}\n\nafter`).filter(({ type }) => type !== 'space')
      expect(block.map(({ type }) => type)).toEqual(['code', 'paragraph'])
    }),
    { seed: 3 },
  )
})

test('a hostile target adds no structure to the report', () => {
  const render = (text: string) =>
    renderMarkdown(
      sampleReport({
        size: 30,
        end: (at) =>
          at % 2 ? fails(text, { message: text, rerun: text })!(at) : { outcome: 'not-exercised', reason: text },
        target: { name: text, baseUrl: text },
        run: { baseline: { file: text, expected: [text], stale: [{ id: text, why: text }], notExercised: [text] } },
      }),
    )
  const shape = (text: string) =>
    tokens(text)
      .map(({ type }) => type)
      .filter((type) => !['text', 'codespan', 'html', 'escape'].includes(type))
  expect(render(hostile)).not.toMatch(unsafe)
  expect(shape(render(hostile))).toEqual(shape(render('plain')))
  const html = tokens(render(hostile)).flatMap((token) => (token.type === 'html' ? [token.raw.trim()] : []))
  expect(
    html.filter((tag) => !/^<\/?(details|summary|code)>|^<details>\n<summary>[^<]*<\/summary>$/.test(tag)),
  ).toEqual([])
})
