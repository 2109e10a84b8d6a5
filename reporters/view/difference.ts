import { diffArrays, diffWordsWithSpace } from 'diff'
import { findNodeAtLocation, type Node as JsonNode, parseTree } from 'jsonc-parser'
import type { Failure, RecordedBody, RecordedRequest, Report } from '../../harness/report/index.ts'
import { parsedJson, tokensOf } from '../../schemas/json.ts'
import { STATUS_CODES } from 'node:http'

/** A piece of text; marked if only this side has it. */
export interface Piece {
  readonly text: string
  readonly isMarked: boolean
}

export interface LinePair {
  readonly control: readonly Piece[] | undefined
  readonly probe: readonly Piece[] | undefined
  readonly isSame: boolean
}

const most = { maxEditLength: 400 }
const longestBody = 8192

/** Compares the accepted request and the probe by line. `…` replaces what is unique per request. */
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
    // An addition after a removal replaces it.
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

function isDeep(text: string): boolean {
  let level = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    level += bracket === '[' || bracket === '{' ? 1 : -1
    if (level > 40) return true
  }
  return false
}

/** Both texts with `…` for unique parts: ends of names, ids of created objects. */
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
  // An id on one side only is a difference.
  const both = first !== one && second !== two ? [first, second] : [one, two]
  return nonce.length < 4 ? both : both.map((text) => text.replaceAll(suffix, '…'))
}

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

/** A response with indented JSON, the wrong member marked if known. */
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
