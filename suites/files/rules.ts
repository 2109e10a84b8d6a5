import { isDeepStrictEqual } from 'node:util'
import { uploadOperation } from '../../catalogue/operations.ts'
import {
  describeResponse,
  type Exchange,
  jsonValue,
  type Evidence,
  type HistoryEvent,
  type Rule,
  verdictOf,
} from '../../harness/journal/index.ts'
import { isObject } from '../../schemas/json.ts'
import { madeBy } from '../created/rules.ts'

export const extensionIn = (filename: string): string | undefined => /\.(\w+)$/.exec(filename)?.[1]

const textOf = (exchange: Exchange): string => exchange.response?.text(exchange.response.size) ?? ''

/** The names of members with that value anywhere in a JSON value; empty for an array item. */
function namesOf(value: unknown, wanted: string, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => namesOf(item, wanted))
  if (isObject(value))
    return Object.entries(value).flatMap(([own, inner]) => namesOf(inner, wanted, own))
  return String(value) === wanted ? [name] : []
}

/** Minimum characters of an id to search for in a text other than JSON. */
const longEnough = 8

/** The members that contain an id; the empty name for a text other than JSON. */
export function placesOf(exchange: Exchange, id: string): readonly string[] {
  const json = jsonValue(exchange.response)
  if (json !== undefined) return namesOf(json, id)
  return id.length >= longEnough && textOf(exchange).includes(id) ? [''] : []
}

const typesOf = ({ object = '' }: HistoryEvent): string[] =>
  object
    .slice(object.indexOf(' ') + 1)
    .toLowerCase()
    .split(',')

/** Maximum compared answers of a long recording. */
const mostRead = 200

/** §2.8: a file listed under its own extension is not listed, at the same member, under another. */
export const filteredRule: Rule = (history) => {
  const listings = history.events
    .filter((event) => event.kind === 'listing' && event.isGranted)
    .slice(0, mostRead)
  let cases = 0
  const evidence = madeBy(history, uploadOperation).flatMap((made): Evidence[] => {
    const id = made.object!
    const own = extensionIn(made.name ?? '')?.toLowerCase()
    if (own === undefined) return []
    const later = listings.filter((one) => one.sentAt >= made.endedAt && one.key === made.key)
    const known = later.filter((one) => isDeepStrictEqual(typesOf(one), [own]))
    const places = known.flatMap((one) => placesOf(one.exchange, id))
    if (places.length === 0) return []
    const others = later.filter(
      (one) =>
        !typesOf(one).some(
          (type) => type === own || (type === 'pdf' && /pdf/i.test(made.label ?? '')),
        ),
    )
    cases += others.length
    const wrong = others.find((other) =>
      placesOf(other.exchange, id).some((place) => places.includes(place)),
    )
    if (!wrong) return []
    const expected = `a listing without the file ${id}, whose extension is ${own}`
    const actual = `${wrong.status}, and the file is in it`
    const what = `with file_types ${typesOf(wrong).join()}`
    return [{ exchange: wrong.exchange, what, expected, actual }]
  })
  return verdictOf(
    evidence,
    cases + evidence.length,
    'no listing of its own extension contained an uploaded file',
  )
}

/** Whether an answer contains anything specific: a string or number in a JSON object or list. */
function isRecord(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => isRecord(item) || isTelling(item))
  return isObject(value) && Object.values(value).some((one) => isTelling(one) || isRecord(one))
}

const isTelling = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number'

/** Whether an answer may be the same for all files, and so says nothing about one. */
function saysNothing(event: HistoryEvent, ids: readonly string[]): boolean {
  const json = jsonValue(event.exchange.response)
  if (json !== undefined) return !isRecord(json)
  return !ids.some((id) => id.length >= longEnough && textOf(event.exchange).includes(id))
}

/** §4.4: retrievals of two files with different names and content differ. */
export const ownRecordRule: Rule = (history) => {
  const files = madeBy(history, uploadOperation).slice(0, mostRead)
  const records = files.flatMap((made) => {
    const reading = history.of(made.object!).find((one) => one.kind === 'reading' && one.isGranted)
    return reading && made.content !== undefined ? [{ made, reading }] : []
  })
  const first = new Map<string, (typeof records)[number]>()
  let why = 'no two files were uploaded and retrieved'
  let cases = 0
  const evidence = records.flatMap((record): Evidence[] => {
    // The text of a large answer is not kept.
    const text = textOf(record.reading.exchange) || JSON.stringify(record.reading.body)
    const alike = first.get(text)
    if (!alike) first.set(text, { made: record.made, reading: record.reading })
    const ids = [alike?.made.object ?? '', record.made.object!]
    if (!alike) {
      cases++
      return []
    }
    if (alike.made.content === record.made.content || alike.made.name === record.made.name)
      return []
    if (saysNothing(record.reading, ids)) {
      why = 'the answers to both retrievals are the same, and describe no file'
      return []
    }
    const actual = `${describeResponse(record.reading.exchange)}, as for the first`
    const expected = 'an answer that differs from the one for a file with another name and content'
    return [
      {
        exchange: record.reading.exchange,
        what: 'for the second of two uploaded files',
        expected,
        actual,
      },
    ]
  })
  return verdictOf(evidence, cases > 1 ? cases - 1 : 0, why)
}
