import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDateTime, formats } from '../../schemas/formats.ts'

const seed = 20250101

test.each([
  '7c1f2b3a-0000-4000-8000-0123456789ab',
  '7C1F2B3A-0000-4000-8000-0123456789AB',
  '7c1F2b3a-0000-1000-0000-0123456789aB',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  randomUUID(),
])('%s is a uuid', (text) => {
  expect(formats.uuid(text)).toBe(true)
})

test.each([
  '',
  'urn:uuid:7c1f2b3a-0000-4000-8000-0123456789ab',
  'URN:UUID:7c1f2b3a-0000-4000-8000-0123456789ab',
  '{7c1f2b3a-0000-4000-8000-0123456789ab}',
  '7c1f2b3a00004000800000123456789ab',
  '7c1f2b3a000040008000-0123456789ab',
  '7c1f2b3a-0000-4000-8000-0123456789a',
  '7c1f2b3a-0000-4000-8000-0123456789abc',
  '7c1f2b3g-0000-4000-8000-0123456789ab',
  '7c1f2b3a_0000_4000_8000_0123456789ab',
  ' 7c1f2b3a-0000-4000-8000-0123456789ab',
  '7c1f2b3a-0000-4000-8000-0123456789ab\n',
  '7c1f2b3a-0000-4000-8000-0123456789٣b',
])('%j is no uuid', (text) => {
  expect(formats.uuid(text)).toBe(false)
})

test.each([
  ['1970-01-01T00:00:00Z', 0, 1000],
  ['1970-01-01t00:00:01z', 1000, 1000],
  ['1970-01-01T00:00:00.5Z', 500, 100],
  ['1970-01-01T00:00:00.123Z', 123, 1],
  ['1970-01-01T00:00:00.123456Z', 123.456, 0.001],
  ['1970-01-01T00:00:00.123456789Z', 123.456789, 0.000001],
  ['1970-01-01T01:00:00+01:00', 0, 1000],
  ['1969-12-31T18:30:00-05:30', 0, 1000],
  ['1970-01-01T00:00:00-00:00', 0, 1000],
  ['1970-01-01T23:59:00+23:59', 0, 1000],
  ['1969-12-31T23:59:59Z', -1000, 1000],
  ['2024-02-29T12:00:00Z', 1709208000000, 1000],
  ['2000-02-29T00:00:00Z', 951782400000, 1000],
  ['0000-02-29T00:00:00Z', -62162121600000, 1000],
  ['0099-12-31T23:59:59Z', -59011459201000, 1000],
  ['9999-12-31T23:59:59Z', 253402300799000, 1000],
  ['1990-12-31T23:59:60Z', 662688000000, 1000],
  ['1990-12-31T15:59:60.5-08:00', 662688000500, 100],
])('%s is the instant %d, in units of %d ms', (text, epochMs, unitMs) => {
  const instant = parseDateTime(text)
  expect(instant?.epochMs).toBeCloseTo(epochMs, 9)
  expect(instant?.unitMs).toBeCloseTo(unitMs, 12)
  expect(formats['date-time'](text)).toBe(true)
})

test.each([
  '',
  'yesterday',
  '2025-01-02',
  '10:00:00Z',
  '2025-01-02 10:00:00Z',
  '2025-01-02_10:00:00Z',
  '2025-01-02T10:00:00',
  '2025-01-02T10:00Z',
  '2025-01-02T10:00:00+0100',
  '2025-01-02T10:00:00+01',
  '2025-01-02T10:00:00+1:00',
  '2025-01-02T10:00:00+24:00',
  '2025-01-02T10:00:00+01:60',
  '2025-01-02T10:00:00 +01:00',
  '2025-01-02T10:00:00Z+01:00',
  '2025-01-02T10:00:00−01:00',
  '2025-01-02T10:00:00.Z',
  '2025-01-02T10:00:00,5Z',
  '2025-01-02T24:00:00Z',
  '2025-01-02T10:60:00Z',
  '2025-01-02T10:00:61Z',
  '2025-01-02T10:00:60Z',
  '2025-00-02T10:00:00Z',
  '2025-13-02T10:00:00Z',
  '2025-01-00T10:00:00Z',
  '2025-01-32T10:00:00Z',
  '2025-04-31T10:00:00Z',
  '2025-02-29T10:00:00Z',
  '1900-02-29T10:00:00Z',
  '2024-02-30T10:00:00Z',
  '25-01-02T10:00:00Z',
  '+2025-01-02T10:00:00Z',
  '-2025-01-02T10:00:00Z',
  '12025-01-02T10:00:00Z',
  '2025-1-2T10:00:00Z',
  '2025-W01-4T10:00:00Z',
  '20250102T100000Z',
  ' 2025-01-02T10:00:00Z',
  '2025-01-02T10:00:00Z\n',
  '٢٠٢٥-01-02T10:00:00Z',
  'Thu, 02 Jan 2025 10:00:00 GMT',
  '1735812000',
])('%j is no date-time', (text) => {
  expect(parseDateTime(text)).toBeUndefined()
  expect(formats['date-time'](text)).toBe(false)
})

const twoDigits = (value: number): string => String(value).padStart(2, '0')

test('any instant, written with any offset, is read as itself', () => {
  const instant = fc.record({
    date: fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    }),
    offset: fc.integer({ min: -1439, max: 1439 }),
    lower: fc.boolean(),
  })
  const property = fc.property(instant, ({ date, offset, lower }) => {
    const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1)
    const minutes = Math.abs(offset)
    const zone = `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
    const text = lower ? `${local}${zone}`.toLowerCase() : `${local}${zone}`
    expect(parseDateTime(text)).toEqual({ epochMs: date.getTime(), unitMs: 1 })
  })
  fc.assert(property, { seed, numRuns: 500 })
})

const second = fc.integer({
  min: Date.parse('2001-01-01') / 1000,
  max: Date.parse('2100-01-01') / 1000,
})
const written = (epochSecond: number, fraction: number, digits: number): string =>
  `${new Date(epochSecond * 1000).toISOString().slice(0, 19)}.${String(fraction).padStart(digits, '0')}Z`

/** Whether two date-times are no more than one unit of the coarser apart. */
function agree(one: string, other: string): boolean {
  const [a, b] = [parseDateTime(one)!, parseDateTime(other)!]
  return Math.abs(a.epochMs - b.epochMs) <= Math.max(a.unitMs, b.unitMs)
}

test('instants one unit apart agree, whatever the precision, and two units apart do not', () => {
  const property = fc.property(
    second,
    fc.integer({ min: 1, max: 6 }),
    fc.nat(999_999),
    (at, digits, number) => {
      const fraction = number % (10 ** digits - 2)
      const text = written(at, fraction, digits)
      expect(agree(text, written(at, fraction + 1, digits))).toBe(true)
      expect(agree(text, written(at, fraction + 2, digits))).toBe(false)
    },
  )
  fc.assert(property, { seed, numRuns: 2000 })
})

test('a uuid of any digits and letter case is one', () => {
  const property = fc.property(fc.uuid(), fc.boolean(), (id, upper) => {
    expect(formats.uuid(upper ? id.toUpperCase() : id)).toBe(true)
    expect(formats.uuid(id.replaceAll('-', ''))).toBe(false)
  })
  fc.assert(property, { seed })
})
