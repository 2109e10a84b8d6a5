/** A HAR is read as it comes: whatever its length, one entry is in memory. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkFile } from '../../cli/check.ts'
import { scanEntries } from '../../traffic/har-bytes.ts'
import { longestText, openHar } from '../../traffic/read-har.ts'
import type { RecordedEntry } from '../../traffic/recorded-entry.ts'
import { entry, granted, har } from './har.ts'
import { inFile } from './recording.ts'

/** The entries that the scanner cuts out of the text, given to it in pieces of so many bytes; it may look at those alone. */
function cut(text: string, size: number): string[] {
  const bytes = Buffer.from(text)
  const found: string[] = []
  let given = 0
  const read = (start: number, end: number): string => {
    expect(end).toBeLessThanOrEqual(given)
    return bytes.subarray(start, end).toString()
  }
  function* pieces() {
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size)
      given = at + piece.length
      yield piece
    }
  }
  scanEntries(pieces(), read, ({ start, end }) => found.push(bytes.subarray(start, end).toString()))
  return found
}

const text = fc.string({
  unit: fc.constantFrom('a', '"', '\\', ',', '[', ']', '{', '}', 'é', '𝄞', '\n', ':'),
})
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('any')),
    fc.dictionary(text, tie('any')),
  ),
})).any

test('cuts out the entries, wherever the pieces end and whatever is around', () => {
  const member = fc.tuple(fc.constantFrom('entries', 'log', 'pages', 'x'), value)
  fc.assert(
    fc.property(
      fc.array(value),
      fc.array(member),
      fc.nat(3),
      fc.integer({ min: 1, max: 9 }),
      (entries, others, indent, size) => {
        const around = Object.fromEntries(others.filter(([name]) => name !== 'entries'))
        const outside = Object.fromEntries(others.filter(([name]) => name !== 'log'))
        const whole = JSON.stringify(
          { ...outside, log: { ...around, entries, after: around }, z: outside },
          null,
          indent,
        )
        const found = cut(whole, size)
        expect(found.map((one) => JSON.parse(one) as unknown)).toEqual(
          JSON.parse(JSON.stringify(entries)),
        )
      },
    ),
    { seed: 8, numRuns: 300 },
  )
})

test('names that are written otherwise are found, and entries elsewhere are not', () => {
  expect(
    cut('{"x": {"entries": [1]}, "l\\u006fg": {"y": {"entries": [2]}, "entries": [3, 4]}}', 3),
  ).toEqual(['3', ' 4'])
  expect(cut('{"entries": [1], "log": [{"entries": [2]}]}', 3)).toEqual([])
})

test('reads an entry again, in the order of time', () => {
  const pdf = granted['pdf.parse/200-text']!
  const recorded = {
    log: { entries: [entry(pdf, 5), entry({ ...pdf, status: 404 }, 1), entry(pdf, 3)] },
  }
  const seen: number[] = []
  const opened = openHar(inFile(JSON.stringify(recorded)), ({ status }) => seen.push(status))
  expect(seen).toEqual([200, 404, 200])
  expect(opened.inTime).toEqual([1, 2, 0])
  expect(opened.inTime.map((index) => opened.entry(index).status)).toEqual([404, 200, 200])
})

/** A recording of 36 MB. */
function longFile(): string {
  const content = 'x'.repeat(1_500_000)
  const { entries } = har({ ...granted['pdf.parse/200-text']!, answers: { content } }).log
  const all = Array.from({ length: 24 }, () => JSON.stringify(entries[0]))
  return inFile(`{"log": {"entries": [${all.join(',')}]}}`)
}

test('holds one entry in memory, however many there are', async () => {
  const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow')
  onTestFinished(() => allocated.mockRestore())
  const seen: WeakRef<RecordedEntry>[] = []
  openHar(longFile(), (one) => seen.push(new WeakRef(one)))
  expect(seen).toHaveLength(24)
  // What is read at once, of 36 MB: an entry, and a megabyte to look for its end.
  const sizes = allocated.mock.calls.map(([size]) => size)
  expect(Math.max(...sizes)).toBeLessThan(2_000_000)
  expect(sizes.length).toBeLessThan(10)
  // In a later turn of the event loop nothing but the collector keeps an entry.
  await nextTurn()
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  expect(seen.filter((one) => one.deref() !== undefined).length).toBeLessThan(3)
  expect(longestText).toBeGreaterThan(500_000_000)
})

test('lets go of what was judged: the event loop turns while a long recording is judged', async () => {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  const checked = checkFile(longFile(), {}, new Date())
  setImmediate(count)
  await checked
  isOver = true
  // Once for 16 of 36 MB: what a weak reference was asked for lives until then.
  expect(turns).toBeGreaterThan(1)
})
