import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDateTime, formats } from '../../schemas/formats.ts'

const uuid = '7c1f2b3a-0000-4000-8000-0123456789ab'

test.each([
  uuid,
  uuid.toUpperCase(),
  '7c1F2b3a-0000-1000-0000-0123456789aB',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
])('%s is a uuid', (text) => {
  expect(formats.uuid(text)).toBe(true)
})

test.each([
  ...['', `urn:uuid:${uuid}`, `{${uuid}}`, uuid.replaceAll('-', ''), uuid.replace('0-8', '08')],
  ...[uuid.slice(0, -1), `${uuid}c`, uuid.replace('a', 'g'), uuid.replaceAll('-', '_')],
  ...[` ${uuid}`, `${uuid}\n`, uuid.replace('9a', '٣b')],
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
  ...['', 'yesterday', '2025-01-02', '10:00:00Z', '2025-01-02 10:00:00Z'],
  ...['2025-01-02_10:00:00Z', '2025-01-02T10:00:00', '2025-01-02T10:00Z'],
  ...['2025-01-02T10:00:00+0100', '2025-01-02T10:00:00+01', '2025-01-02T10:00:00+1:00'],
  ...['2025-01-02T10:00:00+24:00', '2025-01-02T10:00:00+01:60'],
  ...['2025-01-02T10:00:00 +01:00', '2025-01-02T10:00:00Z+01:00'],
  ...['2025-01-02T10:00:00−01:00', '2025-01-02T10:00:00.Z', '2025-01-02T10:00:00,5Z'],
  ...['2025-01-02T24:00:00Z', '2025-01-02T10:60:00Z', '2025-01-02T10:00:61Z'],
  ...['2025-01-02T10:00:60Z', '2025-00-02T10:00:00Z', '2025-13-02T10:00:00Z'],
  ...['2025-01-00T10:00:00Z', '2025-01-32T10:00:00Z', '2025-04-31T10:00:00Z'],
  ...['2025-02-29T10:00:00Z', '1900-02-29T10:00:00Z', '2024-02-30T10:00:00Z'],
  ...['25-01-02T10:00:00Z', '+2025-01-02T10:00:00Z', '-2025-01-02T10:00:00Z'],
  ...['12025-01-02T10:00:00Z', '2025-1-2T10:00:00Z', '2025-W01-4T10:00:00Z'],
  ...['20250102T100000Z', ' 2025-01-02T10:00:00Z', '2025-01-02T10:00:00Z\n'],
  ...['٢٠٢٥-01-02T10:00:00Z', 'Thu, 02 Jan 2025 10:00:00 GMT', '1735812000'],
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
  fc.assert(property, { seed: 1, numRuns: 500 })
})
