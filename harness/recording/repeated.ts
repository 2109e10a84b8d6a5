import { createHash } from 'node:crypto'
import { singleQuoted } from '../shell-word.ts'

/** A body as it is recorded, perhaps cut. */
interface CutBody {
  readonly body: string
  readonly bodyEncoding?: 'base64'
  readonly bodyLength?: number
  readonly bodySha256?: string
}

/** A body that was cut and whose rest is known, since it goes on as it was. */
export interface RepeatedBody {
  /** What stands before it. */
  readonly head: string
  readonly pattern: string
  /** Bytes of the pattern, over and over. */
  readonly length: number
}

/** So many bytes at the end of what was kept have to be one pattern, and no pattern is longer than that. */
const shown = 4096
const longestPattern = 64

/** The whole of a body that was cut, if it goes on as what was kept ends: held against the digest of the whole. */
export function repeatedBody({
  body,
  bodyEncoding,
  bodyLength,
  bodySha256,
}: CutBody): RepeatedBody | undefined {
  const isPlain = bodyEncoding === undefined && /^[\x20-\x7e]*$/.test(body.slice(-shown))
  if (!isPlain || bodyLength === undefined || bodySha256 === undefined || body.length < shown)
    return undefined
  const end = body.slice(-shown)
  const period = Array.from({ length: longestPattern }, (_, at) => at + 1).find(
    (length) => end.slice(length) === end.slice(0, -length),
  )
  if (period === undefined) return undefined
  let from = body.length - shown
  while (from > 0 && body[from - 1] === body[from - 1 + period]) from--
  const [head, pattern] = [body.slice(0, from), body.slice(from, from + period)]
  const length = bodyLength - Buffer.byteLength(head)
  const rest = pattern.repeat(Math.ceil(length / period)).slice(0, length)
  const digest = createHash('sha256').update(head).update(rest).digest('hex')
  return digest === bodySha256 ? { head, pattern, length } : undefined
}

/** Makes it in a shell. */
export function repeatedInShell({ head, length, pattern }: RepeatedBody): string {
  const rest =
    pattern.length === 1
      ? `head -c ${length} /dev/zero | tr '\\0' ${singleQuoted(pattern)}`
      : `yes ${singleQuoted(pattern)} | tr -d '\\n' | head -c ${length}`
  return head === '' ? rest : `{ printf %s ${singleQuoted(head)}; ${rest}; }`
}
