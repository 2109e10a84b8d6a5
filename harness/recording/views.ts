type Place = readonly [start: number, end: number]

/** A text as it reads: as it is, with escapes undone, or decoded from digits. */
export interface View {
  readonly text: string
  /** The place in the text as it was of all that has a part in what stands there. */
  place(from: number, to: number): Place
  readonly isDecoded?: true
}

/** HTML's named references to the printable ASCII characters, each before its character; XML's five are among them. */
const references =
  'excl! quot" QUOT" num# dollar$ percnt% amp& AMP& apos\' lpar( rpar) ast* midast* plus+ comma, period. sol/ colon: semi; lt< LT< equals= gt> GT> quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] Hat^ lowbar_ UnderBar_ grave` lcub{ lbrace{ vert| verbar| VerticalLine| rcub} rbrace}'
/** A key has no others. */
const entities: Readonly<Record<string, string>> = {
  nbsp: ' ',
  ...Object.fromEntries(references.split(' ').map((one) => [one.slice(0, -1), one.slice(-1)])),
}

const jsonEscapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

const entity = String.raw`&(?:#[Xx][\dA-Fa-f]{1,13}(?![\dA-Fa-f]);?|#\d{1,14}(?!\d);?|(?:${Object.keys(entities).join('|')});|(?:amp|AMP|lt|LT|gt|GT|quot|QUOT))`
const everyEntity = new RegExp(entity, 'g')

/**
 * Escapes of one character, by the mark that they begin with. A number's semicolon may be missing, and it may have leading
 * zeros; HTML reads a few names without a semicolon as well. NULs stand before a character in UTF-16 and UTF-32 that is read
 * byte by byte.
 */
const patterns: readonly string[] = [
  String.raw`%[\dA-Fa-f]{2}`,
  String.raw`\\(?:u[\dA-Fa-f]{4}|[bfnrt"\\/])`,
  entity,
  String.raw`\0{1,8}[^\0]`,
]
const single = patterns.map((pattern) => new RegExp(pattern, 'g'))
const together = new RegExp(patterns.join('|'), 'g')

/** The character that an escape stands for; undefined if none has that number. */
function characterOf(escape: string): string | undefined {
  switch (escape[0]) {
    case '%':
      return characterAt(Number.parseInt(escape.slice(1), 16))
    case '\\':
      if (escape[1] === 'u') return characterAt(Number.parseInt(escape.slice(2), 16))
      return jsonEscapes[escape[1] as string] ?? escape[1]
    case '&': {
      const name = escape.slice(1).replace(';', '')
      if (name[0] !== '#') return entities[name]
      return characterAt(
        /x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)),
      )
    }
    default:
      return escape.at(-1)
  }
}

/** The text with the characters that a page writes as `&lt;` or `&#39;`. */
export function withoutEntities(text: string): string {
  return text.replaceAll(
    everyEntity,
    (escape) => (escape.endsWith(';') && characterOf(escape)) || escape,
  )
}

function characterAt(code: number): string | undefined {
  return code > 0xffff ? undefined : String.fromCharCode(code)
}

/**
 * How often a text is unescaped: what was escaped already may be escaped again on its way (a percent sign in a path, an
 * ampersand in JSON). Nobody reads a text by chance that is escaped more often than that.
 */
const rounds = 3

/**
 * The text, and the text with percent-encoding, JSON escapes, HTML and XML entities or the NULs of wider characters undone.
 * Each kind that the text has is undone by itself, since a key may have what looks like another kind. If there are several
 * kinds, or one leads to another, all of them are also undone at once. Each of these is also read as hex and as base64.
 */
export function viewsOf(text: string): View[] {
  const raw: View = { text, place: (from, to) => [from, to] }
  const alone = single.flatMap((escapes) => undone(raw, escapes))
  // Of one kind alone, all at once is the same.
  const mixed = undone(raw, together).filter(({ text: shown }) =>
    alone.every((view) => view.text !== shown),
  )
  return [raw, ...alone, ...mixed].flatMap((view) => [view, ...decoded(view)])
}

/** Undone once, again, and so on, until there is nothing to undo. */
function undone(raw: View, escapes: RegExp): View[] {
  const views: View[] = []
  for (let view = undo(raw, escapes); view && views.length < rounds; view = undo(view, escapes))
    views.push(view)
  return views
}

/** Undefined if there is no escape. */
function undo({ text, place }: View, escapes: RegExp): View | undefined {
  const shown = text.replace(escapes, (escape) => characterOf(escape) ?? escape)
  if (shown.length === text.length) return undefined
  // Places are asked for only if a key was found, which is seldom: they are counted then.
  let origins: Int32Array | undefined
  const originAt = (at: number): number =>
    (origins ??= originsOf(text, shown.length, escapes))[at] as number
  return { text: shown, place: (from, to) => place(originAt(from), originAt(to)) }
}

/** Offsets at which each character of the shown text began, and the end of the last one. */
function originsOf(text: string, length: number, escapes: RegExp): Int32Array {
  const origins = new Int32Array(length + 1)
  let from = 0
  let index = 0
  const copyTo = (end: number): void => {
    for (; from < end; from++) origins[index++] = from
  }
  for (const { 0: escape, index: at } of text.matchAll(escapes)) {
    if (characterOf(escape) === undefined) continue
    copyTo(at)
    origins[index++] = at
    from = at + escape.length
  }
  copyTo(text.length)
  origins[length] = text.length
  return origins
}

/** Digits of bytes: how many bits one has, in how many ways bytes may begin among them, and so many that a key may be there. */
const codings = [
  {
    format: 'hex',
    bits: 4,
    ways: 2,
    other: /[^\dA-Fa-f]/g,
    enough: /[\dA-Fa-f]{16}/,
    padding: /^/,
  },
  {
    format: 'base64',
    bits: 6,
    ways: 4,
    other: /[^\w+/-]/g,
    enough: /[\w+/-]{11}/,
    padding: /^={0,2}/,
  },
] as const

/** The text as bytes, each a character, in every way in which they may begin; what is no digit is read as a zero. */
function decoded({ text, place }: View): View[] {
  const present = codings.filter(({ enough }) => enough.test(text))
  return present.flatMap(({ format, bits, ways, other, padding }) => {
    const digits = text.replace(other, '0')
    return Array.from({ length: ways }, (_, before): View => ({
      text: Buffer.from('0'.repeat(before) + digits, format).toString('latin1'),
      isDecoded: true,
      place: (from, to) => {
        const end = Math.ceil((8 * to) / bits) - before
        const padded = padding.exec(text.slice(end, end + 2))?.[0] ?? ''
        return place(Math.max(0, Math.floor((8 * from) / bits) - before), end + padded.length)
      },
    }))
  })
}
