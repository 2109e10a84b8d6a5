export interface View {
  readonly text: string
  place(from: number, to: number): readonly [start: number, end: number]
  readonly isDecoded?: true
}

interface Escapes {
  readonly pattern: RegExp
  read(escape: string): string
}

const entities: Escapes = {
  pattern: /&(?:#[Xx][\dA-Fa-f]{1,6}|#\d{1,7}|amp|lt|gt|quot|apos);/g,
  read(escape) {
    const name = escape.slice(1, -1)
    if (!name.startsWith('#'))
      return { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[name] ?? escape
    const code = Number(name.replace(/^#(x?)/i, (_, x: string) => (x === '' ? '' : '0x')))
    return code > 0xffff ? escape : String.fromCharCode(code)
  },
}
const kinds: readonly Escapes[] = [
  {
    pattern: /%[\dA-Fa-f]{2}/g,
    read: (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  },
  {
    pattern: /\\(?:u[\dA-Fa-f]{4}|["\\/bfnrt])/g,
    read: (escape) => JSON.parse(`"${escape}"`) as string,
  },
  entities,
]

export function withoutEntities(text: string): string {
  return text.replaceAll(entities.pattern, (escape) => entities.read(escape))
}

/** The text itself, and unescaped for each kind of escape in it; each also decoded as hex and base64. */
export function viewsOf(text: string): View[] {
  const whole: View = { text, place: (from, to) => [from, to] }
  return [whole, ...kinds.flatMap((kind) => undone(text, kind))].flatMap((view) => [
    view,
    ...decoded(view),
  ])
}

function undone(text: string, escapes: Escapes): View[] {
  const shown = text.replaceAll(escapes.pattern, (escape) => escapes.read(escape))
  if (shown.length === text.length) return []
  // Computed only if a key was found, which is rare.
  let origins: number[] | undefined
  return [
    {
      text: shown,
      place(from, to) {
        origins ??= originsOf(text, escapes)
        return [origins[from]!, origins[to]!]
      },
    },
  ]
}

function originsOf(text: string, escapes: Escapes): number[] {
  const origins: number[] = []
  let from = 0
  for (const { 0: escape, index } of text.matchAll(escapes.pattern)) {
    if (escapes.read(escape) === escape) continue
    for (; from <= index; from++) origins.push(from)
    from = index + escape.length
  }
  for (; from <= text.length; from++) origins.push(from)
  return origins
}

/** Encodings of bytes as digits: bits per digit, possible alignments, and the minimum length of a key. */
const codings = [
  { format: 'hex', bits: 4, ways: 2, other: /[^\dA-Fa-f]/g, enough: /[\dA-Fa-f]{16}/ },
  { format: 'base64', bits: 6, ways: 4, other: /[^\w+/-]/g, enough: /[\w+/-]{11}/ },
] as const

function decoded(view: View): View[] {
  const present = codings.filter((coding) => coding.enough.test(view.text))
  return present.flatMap(({ format, bits, ways, other }) => {
    const digits = view.text.replace(other, '0')
    return Array.from({ length: ways }, (_, before): View => ({
      text: Buffer.from('0'.repeat(before) + digits, format).toString('latin1'),
      isDecoded: true,
      place(from, to) {
        const end = Math.ceil((8 * to) / bits) - before
        const padding = format === 'base64' ? /^={0,2}/.exec(view.text.slice(end, end + 2))![0] : ''
        return view.place(Math.max(0, Math.floor((8 * from) / bits) - before), end + padding.length)
      },
    }))
  })
}
