import fc from 'fast-check'
import { parse, parseFragment } from 'parse5'
import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { commandData, commandProperty } from '../../reporters/github.ts'
import {
  htmlAnchor,
  htmlAttribute,
  htmlText,
  json,
  terminalLines,
  terminalText,
  visible,
  visibleLines,
} from '../../reporters/escape.ts'
import { xmlAttribute, xmlDocument, xmlText } from '../../reporters/junit.ts'
import { hostilePieces, unsafe, hostile } from './hostile.ts'
import { attribute, elements, textOf } from './html-tree.ts'
import { anyCharacter } from '../support/any-character.ts'

const anything = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom(...hostilePieces),
  fc.string({
    unit: fc.constantFrom(...'<>&"\';:,%lt\n\r#a\u0000', '\ud800'),
  }),
)

const verbatim = { trimValues: false, parseTagValue: false, parseAttributeValue: false } as const
const anySchema =
  '<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="a"><complexType><simpleContent><extension base="string"><attribute name="x"/></extension></simpleContent></complexType></element></schema>'

/** Holds for any text of a target. */
function forAnything(judge: (text: string) => void) {
  fc.assert(fc.property(anything, judge), { seed: 11, numRuns: 300 })
}

test('HTML: text between tags reads back as what is visible of it', () => {
  forAnything((text) => {
    const page = parseFragment(`<pre>\n${htmlText(text)}</pre>`)
    expect(page.childNodes).toHaveLength(1)
    expect(textOf(page)).toBe(visibleLines(text))
  })
})

test('HTML: an attribute reads back as what is visible of it', () => {
  forAnything((text) => {
    const [, , , one, ...more] = elements(`<p title="${htmlAttribute(text)}" id=x></p>`)
    expect(more).toEqual([])
    expect(attribute(one!, 'title')).toBe(visible(text))
    expect(one!.attrs).toHaveLength(2)
  })
})

test('HTML: an anchor leads to the id that it names', () => {
  forAnything((text) => {
    const link = elements(`<a href="${htmlAnchor(text)}">`).find(({ tagName }) => tagName === 'a')!
    expect(decodeURIComponent(attribute(link, 'href')!.slice(1))).toBe(visible(text))
  })
})

test('HTML: nothing in a title ends it', () => {
  const page = parse(`<!doctype html><title>${htmlText('</title><script>x')}</title>`)
  expect(textOf(page)).toBe('</title><script>x')
})

test('XML: nothing is left that XML 1.0 forbids', () => {
  const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
  forAnything((text) => {
    expect(xmlText(text)).not.toMatch(forbidden)
    expect(xmlAttribute(text)).not.toMatch(forbidden)
    expect(xmlAttribute(text)).not.toMatch(/[\n\r\t]/)
  })
})

test('XML: what the builder makes of a text and of an attribute reads back as what is visible of it', () => {
  const parser = new XMLParser({
    ...verbatim,
    attributeNamePrefix: '',
    ignoreAttributes: false,
    // oxlint-disable-next-line typescript/no-deprecated -- its successor wants every entity listed
    htmlEntities: true,
  })
  forAnything((text) => {
    const xml = xmlDocument({ a: { '@x': xmlAttribute(text), '#text': `.${xmlText(text)}` } })
    expect(parser.parse(xml)).toMatchObject({
      a: { '#text': `.${visibleLines(text)}`, x: visible(text) },
    })
  })
})

test.each('&nbsp; &#0; &#27; &amp; &lt; &y; &amp;lt; &#x3c; & &; a&b;c'.split(' '))(
  'XML: %s is shown as it is',
  async (text) => {
    const xml = xmlDocument({ a: { '@x': xmlAttribute(text), '#text': xmlText(text) } })
    const literal = text.replaceAll('&', '&amp;')
    expect(xml.split('\n')[1]).toBe(`<a x="${literal}">${literal}</a>`)
    const { valid, errors } = await validateXML({
      xml: { fileName: 'a.xml', contents: xml },
      schema: anySchema,
    })
    expect(errors).toEqual([])
    expect(valid).toBe(true)
  },
)

test('GitHub: a message stays one line, a property ends at no colon or comma', () => {
  forAnything((text) => {
    expect(commandData(text)).not.toMatch(/[\n\r]/)
    expect(commandProperty(text)).not.toMatch(/[\n\r:,]/)
    expect(commandData(text).replaceAll('%0A', '\n').replaceAll('%25', '%')).toBe(
      visibleLines(text),
    )
  })
})

test('terminal: no control, and no more than was allowed', () => {
  forAnything((text) => {
    expect(terminalText(text)).not.toMatch(unsafe)
    expect(terminalText(text)).not.toContain('\n')
    expect(terminalLines(text)).not.toMatch(unsafe)
    expect(terminalLines(text)).not.toMatch(/\n(?! {2})/)
  })
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

test('writes out what hides or disguises', () => {
  expect(visible('\u001b[31m\u202e\n\u009b\ud800\u{e0041}')).toBe(
    '\\x1b[31m\\u202e\\n\\x9b\\ud800\\u{e0041}',
  )
})

test('leaves ordinary text of any script alone', () => {
  const text = 'Zürich 東京 مرحبا שלום 👩‍🔧 ✓ é'
  expect(visible(text)).toBe(text)
})

test('keeps lines and tabs where asked to', () => {
  expect(visibleLines('a\r\n\tb\rc\u0000')).toBe('a\n\tb\\rc\\x00')
})

test('nothing unsafe is left of any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(visible(hostile + text)).not.toMatch(unsafe)
      expect(visible(text)).not.toMatch(/[\n\t]/)
      expect(Buffer.from(visible(text)).toString()).toBe(visible(text))
    }),
    { seed: 1 },
  )
})
