import { diffArrays, diffWordsWithSpace } from 'diff'
import { findNodeAtLocation, type Node as JsonNode, parseTree } from 'jsonc-parser'
import type { Failure, RecordedBody, RecordedRequest, Report } from '../../harness/report/index.ts'
import { responseOf } from '../../harness/report/index.ts'
import { parsedJson, tokensOf } from '../../schemas/json.ts'
import { STATUS_CODES } from 'node:http'

/** A text in pieces, of which some are marked: they are what this side has and the other has not. */
export interface Piece {
  readonly text: string
  readonly isMarked: boolean
}

/** A line of the request that was granted beside the one of the probe that stands for it; undefined where one has none. */
export interface LinePair {
  readonly control: readonly Piece[] | undefined
  readonly probe: readonly Piece[] | undefined
  readonly isSame: boolean
}

const most = { maxEditLength: 400 }
const longestBody = 8192

/** The request that was granted and the probe, line by line. What is new in every request is `…` on both sides. */
export function requestDifference(
  control: RecordedRequest,
  probe: RecordedRequest,
  run: Pick<Report['run'], 'nonce' | 'created'>,
): LinePair[] {
  const isJson = [control, probe].every((request) => bodyValue(request) !== undefined)
  const [old = [], fresh = []] = alike(
    requestText(control, isJson),
    requestText(probe, isJson),
    run,
  ).map((text) => text.split('\n'))
  const changes: readonly Change[] = diffArrays(old, fresh, most) ?? [
    { removed: true, value: old },
    { added: true, value: fresh },
  ]
  return changes.flatMap(({ added, removed, value }, at, all) => {
    // What was added after something was removed stands in its place.
    if (added) return all[at - 1]?.removed ? [] : pairsOf([], value)
    if (removed) return pairsOf(value, all[at + 1]?.added ? all[at + 1]!.value : [])
    return value.map((text) => ({ control: plain(text), probe: plain(text), isSame: true }))
  })
}

interface Change {
  readonly value: readonly string[]
  readonly added?: boolean
  readonly removed?: boolean
}

const plain = (text: string): Piece[] => [{ text, isMarked: false }]
const marked = (text: string): Piece[] => [{ text, isMarked: true }]

function pairsOf(old: readonly string[], fresh: readonly string[]): LinePair[] {
  return Array.from({ length: Math.max(old.length, fresh.length) }, (_, at): LinePair => {
    const [before, after] = [old[at], fresh[at]]
    const words =
      before === undefined || after === undefined
        ? undefined
        : diffWordsWithSpace(before, after, most)
    const side = (
      text: string | undefined,
      other: 'added' | 'removed',
    ): readonly Piece[] | undefined => {
      if (text === undefined || words === undefined)
        return text === undefined ? undefined : marked(text)
      return words
        .filter((word) => !word[other])
        .map((word) => ({ text: word.value, isMarked: word.added || word.removed }))
    }
    return { control: side(before, 'added'), probe: side(after, 'removed'), isSame: false }
  })
}

function requestText(request: RecordedRequest, isJson: boolean): string {
  const path = request.url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/'
  const headers = Object.entries(request.headers).filter(([name]) => name !== 'content-length')
  const body = isJson ? JSON.stringify(bodyValue(request), null, 2) : bodyShown(request)
  const head = [`${request.method} ${path}`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return [...head, ...(body === '' ? [] : ['', body])].join('\n')
}

function bodyShown({ body, bodyEncoding }: RecordedBody): string {
  const shown = body.length > longestBody ? `${body.slice(0, longestBody)}…` : body
  return bodyEncoding ? `${shown} (base64)` : shown
}

function bodyValue({ body, bodyEncoding, bodyLength }: RecordedBody): unknown {
  if (body === '' || body.length > longestBody || bodyEncoding || bodyLength !== undefined)
    return undefined
  return isDeep(body) ? undefined : parsedJson(body)
}

/** Whether brackets are nested so deep that indenting them would take more room than any page has. */
function isDeep(text: string): boolean {
  let level = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    level += bracket === '[' || bracket === '{' ? 1 : -1
    if (level > 40) return true
  }
  return false
}

/** Both texts with `…` for what no two requests have alike: the end of a name, the id of what was made for the request. */
function alike(
  one: string,
  two: string,
  { created, nonce }: Pick<Report['run'], 'nonce' | 'created'>,
): string[] {
  const ids = new Set(created.map(({ id }) => id))
  const suffix = new RegExp(`${nonce.slice(0, 4).replaceAll(/\W/g, '')}[0-9a-z]{4}`, 'g')
  const without = (text: string): string =>
    text.replaceAll(/[\w.:-]{6,}/g, (word) => (ids.has(word) ? '…' : word))
  const [first, second] = [without(one), without(two)]
  // An id on one side only is the difference.
  const both = first !== one && second !== two ? [first, second] : [one, two]
  return nonce.length < 4 ? both : both.map((text) => text.replaceAll(suffix, '…'))
}

/**
 * Expected and received, the statuses and names marked that only one of the two has. If they fit each other, what follows them is
 * marked; all of it, if there are none.
 */
export function responseDifferenceOf(
  failure: Pick<Failure, 'actual' | 'asked' | 'exchange' | 'expected'>,
): {
  readonly expected: readonly Piece[]
  readonly received: readonly Piece[]
} {
  const { actual, asked = [], expected } = failure
  const { status, tpe } = responseOf(failure)
  const answered = [status, tpe].filter((word) => word != null).map(String)
  const hasNames = asked.some((word) => !isStatus(word))
  return {
    expected: wordPieces(expected, asked, (word) => answered.some((came) => fits(came, word))),
    received: wordPieces(
      actual,
      answered,
      (came) => (!isStatus(came) && !hasNames) || asked.some((word) => fits(came, word)),
      asked.length === 0,
    ),
  }
}

/** What else is asked for than one status, and which statuses fit it. */
const classes: Readonly<Record<string, (status: number) => boolean>> = {
  '2xx': (status) => status >= 200 && status < 300,
  '4xx': (status) => status >= 400 && status < 500,
  '4xx-body': (status) => status >= 400 && status < 500,
  '4xx-id': (status) => status >= 400 && status < 500,
  any: (status) => status >= 400,
  'no-5xx': (status) => status < 500,
}

function isStatus(word: string): boolean {
  return /^\d+$/.test(word) || Object.hasOwn(classes, word)
}

function fits(came: string, asked: string): boolean {
  return came === asked || (/^\d+$/.test(came) && classes[asked]?.(Number(came)) === true)
}

/**
 * The text with each of the words that stand in it, in their order, by itself: marked if it does not fit.
 * @param isRest the words are no matter of the failure: what follows them is
 */
function wordPieces(
  text: string,
  words: readonly string[],
  isFitting: (word: string) => boolean,
  isRest = false,
): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const word of words) {
    const at = text.indexOf(word, end)
    if (at < 0) continue
    const isMarked = !isRest && !isFitting(word)
    pieces.push(...plain(text.slice(end, at)), { text: word, isMarked })
    end = at + word.length
  }
  if (pieces.length === 0) return marked(text)
  const rest = text.slice(end)
  if (pieces.some(({ isMarked }) => isMarked)) return [...pieces, ...plain(rest)]
  const [gap = ''] = /^[\s,;:]*/.exec(rest) ?? []
  return [...pieces, ...plain(gap), ...marked(rest.slice(gap.length))]
}

/** Pieces that stand side by side and are marked alike as one, so that what is escaped is escaped as a whole. */
export function joinedPieces(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (last?.isMarked === piece.isMarked)
      all[all.length - 1] = { ...piece, text: last.text + piece.text }
    else if (piece.text !== '') all.push(piece)
  }
  return all
}

/** A response as text, its JSON indented and the member marked that is at fault, if it is known and there. */
export function responseDifference({ at, exchange }: Failure): Piece[] | undefined {
  const response = exchange?.response
  const value = response && bodyValue(response)
  if (value === undefined) return undefined
  const line = `${response!.status} ${STATUS_CODES[response!.status] ?? ''}`.trimEnd()
  const headers = Object.entries(response!.headers).map(([name, of]) => `${name}: ${of}`)
  const head = `${[line, ...headers].join('\n')}\n\n`
  const body = JSON.stringify(value, null, 2)
  const root = at === undefined ? undefined : parseTree(body)
  const path = tokensOf(at ?? '').map((token) => (/^\d+$/.test(token) ? Number(token) : token))
  const node = root && path.length > 0 ? findNodeAtLocation(root, path) : undefined
  if (node === undefined) return [...plain(head), ...withMissing(body, root, path)]
  const start = node.parent?.type === 'property' ? node.parent.offset : node.offset
  const end = node.offset + node.length
  return [
    ...plain(head + body.slice(0, start)),
    ...marked(body.slice(start, end)),
    ...plain(body.slice(end)),
  ]
}

/** The body, and before the end of the object that lacks the member that it does. */
function withMissing(
  body: string,
  root: JsonNode | undefined,
  path: readonly (string | number)[],
): Piece[] {
  const holder = root && path.length > 0 ? findNodeAtLocation(root, path.slice(0, -1)) : undefined
  if (holder?.type !== 'object') return plain(body)
  const end = holder.offset + holder.length - 1
  const kept = body.slice(0, end).trimEnd()
  const indent = '  '.repeat(path.length)
  return [
    ...plain(`${kept}\n${indent}`),
    ...marked(`${JSON.stringify(path.at(-1))} is missing`),
    ...plain(body.slice(kept.length)),
  ]
}
