import fc from 'fast-check'
import { nameOfKind, ofKinds, sample, shown } from '../../harness/checks/values.ts'
import { any, withBody } from '../../harness/checks/conditions.ts'

/** The enum `pdf_conversion_format` (§2.1). */
const formats = ['text', 'markdown']

const outside = [
  ...['TEXT', 'Text', 'MARKDOWN', 'Markdown'],
  // Letters of double width, which a server that normalizes to NFKC takes for the plain ones.
  ...['\uff54\uff45\uff58\uff54', '\uff4d\uff41\uff52\uff4b\uff44\uff4f\uff57\uff4e'],
  ...[' text', 'text ', 'markdown\n'],
  ...['md', 'txt', 't', 'm', 'tex', 'mark'],
  ...['plain', 'html', 'pdf', 'json', 'text,markdown', 'text/plain'],
  ...['', 'constructor', 'toString', '__proto__', 'hasOwnProperty', 'length'],
]

const unsupported = (format: string) => ({ what: `with format ${shown(format)}`, value: format })

const otherWord = fc
  .oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,16}$/), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }))
  .filter((format) => !formats.includes(format))

/** Strings outside the enum: other letter case, full-width letters, blanks, abbreviations, empty, names of object members; then any. */
export const unsupportedFormat = any(outside.map(unsupported), otherWord.map(unsupported), (probe, format) =>
  withBody(probe, { format }),
)

const other = ['null', 'boolean', 'number', 'array', 'object'] as const

const named = [
  ...other.map((kind) => ({ what: `with format ${nameOfKind(kind)}`, value: sample[kind] })),
  ...[false, 0, 1, ['text'], ['markdown'], { format: 'text' }, { text: true }].map((value) => ({
    what: `with format ${shown(value)}`,
    value,
  })),
]

const generated = ofKinds(...other).map((value) => ({ what: `with format ${shown(value)}`, value }))

/** Values that are no string, arrays of a valid one among them. */
export const malformedFormat = any<unknown>(named, generated, (probe, format) => withBody(probe, { format }))
