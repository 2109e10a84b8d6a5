/** Text of a target, or of a stranger's file: it is shown as it is, and does nothing, wherever it is written. */
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { isValid } from 'ctrf'
import { lexer, marked, type Token } from 'marked'
import { parse, parseFragment } from 'parse5'
import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import { curlOf } from '../../harness/recording/recorder.ts'
import {
  htmlAnchor,
  json,
  markupAttribute,
  markupText,
  markdownBlock,
  markdownCode,
  markdownText,
  terminalLines,
  terminalText,
  visible,
  visibleLines,
} from '../../reporters/text.ts'
import { formatNames, formats, type Render, renderJson } from '../../reporters/index.ts'
import { renderCtrf } from '../../reporters/ctrf.ts'
import { renderJunit, xmlDocument } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import { anyCharacter } from '../support/any-character.ts'
import { commandsIn, hostile, hostilePieces, runnerCommands, unsafe } from './hostile.ts'
import { attribute, elements, textOf, validateJunit } from './parsers.ts'
import { fails, inHtml, joined, reportOfText, sampleExchanges, sampleReport } from './samples.ts'

const anything = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom(...hostilePieces),
  fc.string({ unit: fc.constantFrom(...'<>&"\';:,%lt\n\r#a\u0000', '\ud800') }),
)

/** Holds for any text of a target. */
function forAnything(judge: (text: string) => void) {
  fc.assert(fc.property(anything, judge), { seed: 11, numRuns: 100 })
}

test('what hides or disguises is written out; ordinary text of any script is not, nor are lines and tabs where they may be', () => {
  expect(visible('\u001b[31m\u202e\n\u009b\ud800\u{e0041}')).toBe(
    '\\x1b[31m\\u202e\\n\\x9b\\ud800\\u{e0041}',
  )
  const text = 'Zürich 東京 مرحبا שלום 👩‍🔧 ✓ é'
  expect(visible(text)).toBe(text)
  expect(visibleLines('a\r\n\tb\rc\u0000')).toBe('a\n\tb\\rc\\x00')
  forAnything((one) => {
    expect(visible(hostile + one)).not.toMatch(unsafe)
    expect(visible(one)).not.toMatch(/[\n\t]/)
    expect(Buffer.from(visible(one)).toString()).toBe(visible(one))
  })
})

test('HTML: text, attributes and anchors read back as what is visible of them', () => {
  forAnything((text) => {
    const page = parseFragment(`<pre>\n${markupText(text)}</pre>`)
    expect(page.childNodes).toHaveLength(1)
    expect(textOf(page)).toBe(visibleLines(text))
    const [, , , one, ...more] = elements(`<p title="${markupAttribute(text)}" id=x></p>`)
    expect(more).toEqual([])
    expect(one!.attrs.map(({ value }) => value)).toEqual([visible(text), 'x'])
    const link = elements(`<a href="${htmlAnchor(text)}">`).find(({ tagName }) => tagName === 'a')!
    expect(decodeURIComponent(attribute(link, 'href')!.slice(1))).toBe(visible(text))
  })
  const title = '</title><script>x'
  expect(textOf(parse(`<!doctype html><title>${markupText(title)}</title>`))).toBe(title)
})

test('XML: text and attributes read back as what is visible of them, without what XML 1.0 forbids', () => {
  const parser = new XMLParser({
    ...{ trimValues: false, parseTagValue: false, parseAttributeValue: false },
    ...{ attributeNamePrefix: '', ignoreAttributes: false },
    // oxlint-disable-next-line typescript/no-deprecated -- its successor wants every entity listed
    htmlEntities: true,
  })
  const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
  forAnything((text) => {
    expect(markupText(text)).not.toMatch(forbidden)
    expect(markupAttribute(text)).not.toMatch(forbidden)
    expect(markupAttribute(text)).not.toMatch(/[\n\r\t]/)
    const xml = xmlDocument({ a: { '@x': markupAttribute(text), '#text': `.${markupText(text)}` } })
    const read = { a: { '#text': `.${visibleLines(text)}`, x: visible(text) } }
    expect(parser.parse(xml)).toMatchObject(read)
  })
})

test('terminal: no control, no command of a runner, no more than was allowed', () => {
  const unit = fc.constantFrom(...'#:[]vso \n\u3000\r', ...runnerCommands)
  const text = fc.oneof(anything, fc.string({ unit, maxLength: 12 }))
  fc.assert(
    fc.property(text, (one) => {
      for (const shown of [terminalText(one), terminalLines(one)]) {
        expect(shown).not.toMatch(unsafe)
        expect(shown).not.toMatch(/\n(?! {2})/)
        expect(commandsIn(shown)).toEqual([])
      }
      expect(terminalText(one)).not.toContain('\n')
    }),
    { seed: 11, numRuns: 200 },
  )
  expect(terminalText('a'.repeat(30), 10)).toBe('aaaaaaaaaa… (20 more characters)')
})

test('JSON: reads back as the same value, with nothing that disguises', () => {
  fc.assert(
    fc.property(fc.dictionary(anything, anything, { noNullPrototype: true }), (value) => {
      expect(JSON.parse(json(value))).toEqual(value)
      expect(json(value)).not.toMatch(unsafe)
    }),
    { seed: 11 },
  )
})

function tokens(text: string): Token[] {
  const all: Token[] = []
  void marked.walkTokens(lexer(text), (token) => void all.push(token))
  return all
}

test('Markdown: any text is text, one cell of a table, and one block of code', () => {
  for (const piece of hostilePieces)
    expect([...new Set(tokens(markdownText(piece)).map(({ type }) => type))].sort(), piece).toEqual(
      ['paragraph', 'text'],
    )
  forAnything((text) => {
    const cells = `| ${markdownText(text)} | ${markdownCode(text)} |`
    const [table] = lexer(`| a | b |\n| - | - |\n${cells}`)
    expect(table).toMatchObject({ type: 'table', rows: [{ length: 2 }] })
    const block = lexer(`${markdownBlock(text)}\n\nafter`)
    const types = block.map(({ type }) => type).filter((type) => type !== 'space')
    expect(types).toEqual(['code', 'paragraph'])
  })
})

/** Whom GitHub and GitLab would notify of a text: what a reader sees without what is code. */
function notified(markdown: string): string[] {
  const finds =
    /(?<!\w)@[a-z0-9]|[#!]\d|(?<!\w)gh-\d|[\w.-]+\/[\w.-]+#\d|\/(issues|pull|discussions|merge_requests)\/\d/gi
  const html = marked.parse(markdown, { async: false })
  const seen = textOf(parseFragment(html.replaceAll(/<(code|pre)>.*?<\/\1>/gs, '')))
  return seen.match(finds) ?? []
}

test.each([
  'see @octocat and (@org/team)',
  '#12 and org/repo#12, !7',
  'gh-12 GH-12',
  'https://github.com/org/repo/issues/12, gitlab.com/a/b/-/merge_requests/3',
])('nobody is notified by Markdown of %s', (text) => {
  expect(notified(text)).not.toEqual([])
  expect([markdownText(text), markdownCode(text)].flatMap(notified)).toEqual([])
  const target = { name: text, baseUrl: text }
  const report = sampleReport({ size: 20, end: fails(text, { message: text }), target })
  expect(notified(renderMarkdown(report))).toEqual([])
})

describe('of a hostile target', () => {
  const text = `::error::${hostile}`
  const report = reportOfText(text, 60)
  const exchanges = (of: string) =>
    [...sampleExchanges(report, 40)].map((one) => ({
      ...{ ...one, curl: of },
      request: { ...one.request, url: `https://x.example/${of}` },
      response: { status: 299, headers: { 'x-note': of, [of]: of }, body: of },
    }))

  test.each(formatNames)('%s has no control and no command of a runner', async (format) => {
    const render: Render = await formats[format].load()
    const written = await joined(render(report, exchanges(text)))
    expect(written.length).toBeGreaterThan(100)
    expect(written).not.toMatch(unsafe)
    expect(commandsIn(written)).toEqual([])
  })

  test('the terminal has no control and no command of a runner, in colours or without', () => {
    for (const colors of [pc.createColors(false), pc.createColors(true)]) {
      const shown = renderTerminal(report, colors, { notes: [hostile] })
      expect(commandsIn(shown)).toEqual([])
      expect(shown.replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(unsafe)
      expect(shown).toContain('\\x1b[2J')
    }
  })

  test('HTML has the elements and attributes that it has of any target', async () => {
    const shapeOf = async (one: string) => {
      const html = await inHtml(
        reportOfText(one, 40, { startedAt: one, only: [one] }),
        exchanges(one),
      )
      return elements(html).map(({ attrs, tagName }) => [tagName, ...attrs.map(({ name }) => name)])
    }
    expect(await shapeOf(hostile)).toEqual(await shapeOf('plain'))
  })

  test('Markdown has the structure that it has of any target', () => {
    const shapeOf = (one: string) =>
      tokens(renderMarkdown(reportOfText(one, 30)))
        .map(({ type }) => type)
        .filter((type) => !['text', 'codespan', 'html', 'escape'].includes(type))
    expect(shapeOf(hostile)).toEqual(shapeOf('plain'))
    const ours = /^<\/?(details|summary|code)>|^<details(?: open)?>\n<summary>[^<]*<\/summary>$/
    const html = tokens(renderMarkdown(reportOfText(hostile, 30))).filter(
      ({ type }) => type === 'html',
    )
    expect(html.filter(({ raw }) => !ours.test(raw.trim()))).toEqual([])
  })

  test('JUnit and CTRF are valid, and what it answered can be read', async () => {
    const xml = renderJunit(report)
    await validateJunit(xml)
    expect(xml).toContain('&#60;script&#62;alert(1)&#60;/script&#62;')
    expect(isValid(JSON.parse(renderCtrf(report)))).toBe(true)
    expect(JSON.parse(renderJson(report))).toEqual(report)
    const texts = fc.sample(anything, { numRuns: 60, seed: 7 })
    const end = (at: number) => fails(texts[at], { message: texts[at]! })()
    await validateJunit(renderJunit(sampleReport({ size: 60, end })))
  })
})

test('a curl line is one line without a command, and sends the same', () => {
  const request = {
    ...{ method: 'POST', url: 'http://t.test/##vso[x]', body: '"##teamcity[x]"' },
    headers: { 'x-a': '##[b]' },
  }
  const line = curlOf(request, new Set(['x-a']))
  expect(commandsIn(line)).toEqual([])
  const shell = line.replaceAll("''", '').replaceAll('""', '')
  expect(shell).toContain("'http://t.test/##vso[x]'")
  expect(shell).toContain('"x-a: ##[b]"')
  const piped = curlOf({ ...request, body: 'a\n::error::b' }, new Set())
  expect(piped).toMatch(/^printf %s 'YQo6OmVycm9yOjpi' \| base64 -d \| curl .* --data-binary @-$/)
})
