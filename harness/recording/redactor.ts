import { redacted } from './recorded.ts'
import { viewsOf } from './views.ts'

const run = 12
/** Each run contains a whole probe at a multiple of `run - probe + 1`: only these are looked up first. */
const probe = 6
/** A shorter key is only found as the whole text: within a longer one it could be a coincidence. */
export const shortestKey = 8

export function isSecretName(name: string): boolean {
  return (
    /key(?!word)|token|secret|passw(?:or)?d|cookie|authorization|session|signature|csrf/i.test(
      name,
    ) || /credential|^(?:sig|code)$|^x-amz-/i.test(name)
  )
}

export function isAuthorization(header: string): boolean {
  return ['authorization', 'proxy-authorization'].includes(header.toLowerCase())
}

interface Key {
  readonly value: string
  readonly label: string
}

/**
 * Removes keys from everything shown or stored: whole keys are replaced by their label, parts of 12 or more characters
 * by `[redacted]`, whether plain, percent-encoded, escaped for JSON, HTML or XML, in hex, base64 or base64url.
 */
export class Redactor {
  readonly #known = new Set<string>()
  readonly #kept = new Set<string>()
  readonly #short: Key[] = []
  readonly #long: Key[] = []
  readonly #runs = new Set<string>()
  readonly #probes = new Set<string>()

  add(value: string, label: string): void {
    if (value === '' || this.#known.has(value)) return
    this.#known.add(value)
    this.#kept.add(label)
    const keys = value.length < shortestKey ? this.#short : this.#long
    keys.push({ value, label })
    const secret = secretPart(value)
    for (let at = 0; at + run <= secret.length; at++) this.#runs.add(secret.slice(at, at + run))
    for (let at = 0; at + probe <= secret.length; at++)
      this.#probes.add(secret.slice(at, at + probe))
  }

  /** Keeps text that is also part of a key (for example an id in a token), but never a whole key. */
  keep(text: string): void {
    this.#kept.add(text)
  }

  text(text: string): string {
    let rest = this.#withoutLong(text)
    for (const { value, label } of this.#short)
      for (const scheme of ['', 'Bearer ', 'Basic '])
        rest = rest.replaceAll(JSON.stringify(scheme + value), () => JSON.stringify(scheme + label))
    return rest
  }

  header(value: string): string {
    const [, scheme = '', rest = ''] = /^(\S+ +)?(.*)$/s.exec(value) ?? []
    for (const key of this.#short) {
      if (value === key.value) return key.label
      if (rest === key.value) return scheme + key.label
    }
    return this.text(value)
  }

  #withoutLong(text: string): string {
    if (text.length < shortestKey || this.#long.length === 0) return text
    const wholes: Span[] = []
    const parts: Span[] = []
    for (const view of viewsOf(text)) {
      const shared = this.#sharedIn(view.text)
      for (const { value, label } of this.#long)
        if (shared || value.length < run)
          for (const at of placesOf(value, view.text))
            wholes.push([...view.place(at, at + value.length), label])
      if (!shared) continue
      for (const kept of view.isDecoded ? [] : this.#kept)
        if (this.#sharedIn(kept))
          for (const at of placesOf(kept, view.text)) shared.fill(0, at, at + kept.length)
      for (let from = shared.indexOf(1); from >= 0;) {
        const zero = shared.indexOf(0, from)
        const end = zero < 0 ? shared.length : zero
        parts.push([...view.place(from, end), redacted])
        from = shared.indexOf(1, end)
      }
    }
    return replaced(text, wholes, parts)
  }

  #sharedIn(text: string): Uint8Array | undefined {
    let shared: Uint8Array | undefined
    for (let sample = 0; sample + probe <= text.length; sample += run - probe + 1) {
      if (!this.#probes.has(text.slice(sample, sample + probe))) continue
      for (let at = Math.max(0, sample + probe - run); at <= sample; at++)
        if (this.#runs.has(text.slice(at, at + run)))
          (shared ??= new Uint8Array(text.length)).fill(1, at, at + run)
    }
    return shared
  }
}

/**
 * The secret part of a key: for a JWT the second and third part, since the first only names the algorithm and is shared
 * by many tokens; otherwise all.
 */
function secretPart(key: string): string {
  const secret = /^eyJ[\w-]*\.([\w-]+\.[\w-]*)$/.exec(key)?.[1] ?? ''
  return secret.length < run ? key : secret
}

function placesOf(part: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length))
    places.push(at)
  return places
}

type Span = readonly [start: number, end: number, label: string]

function replaced(text: string, wholes: readonly Span[], parts: readonly Span[]): string {
  const longestFirst = wholes.toSorted((one, other) => other[1] - other[0] - (one[1] - one[0]))
  const spans = [...longestFirst, ...parts]
  if (spans.length === 0) return text
  const owners = new Uint32Array(text.length + 1)
  for (const [index, [start, end]] of spans.entries()) {
    const isWhole = index < wholes.length
    if (isWhole && owners.subarray(start, end).some((owner) => owner !== 0)) continue
    for (let at = start; at < end; at++) owners[at] ||= Math.min(index, wholes.length) + 1
  }
  let shown = ''
  for (let at = 0; at < text.length;) {
    const owner = owners[at]!
    let end = at + 1
    while (end < text.length && owners[end] === owner) end++
    shown += owner === 0 ? text.slice(at, end) : spans[owner - 1]![2]
    at = end
  }
  return shown
}
