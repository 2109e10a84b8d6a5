import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visible, visibleLines } from '../../reporters/escape.ts'
import { hostile, unsafe } from './hostile.ts'
import { anyCharacter } from '../support/any-character.ts'

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
