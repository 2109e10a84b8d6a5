/** A text as it reads, or as it reads once escapes are undone. */
interface View {
  readonly text: string
  /** Maps an index of the view to the text as it was: to the beginning of that character, or for the length to the end of the last one. */
  originAt(at: number): number
}

/** HTML's named references to the printable ASCII characters; XML's five are among them. A key has no others. */
const entities: Readonly<Record<string, string>> = {
  ...{ excl: '!', quot: '"', QUOT: '"', num: '#', dollar: '$', percnt: '%', amp: '&', AMP: '&', apos: "'" },
  ...{ lpar: '(', rpar: ')', ast: '*', midast: '*', plus: '+', comma: ',', period: '.', sol: '/' },
  ...{ colon: ':', semi: ';', lt: '<', LT: '<', equals: '=', gt: '>', GT: '>', quest: '?', commat: '@' },
  ...{ lsqb: '[', lbrack: '[', bsol: '\\', rsqb: ']', rbrack: ']', Hat: '^', lowbar: '_', UnderBar: '_', grave: '`' },
  ...{ lcub: '{', lbrace: '{', vert: '|', verbar: '|', VerticalLine: '|', rcub: '}', rbrace: '}' },
}

const jsonEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * Escapes of one character, by the mark that they begin with. A number's semicolon may be missing, and it may have leading
 * zeros; HTML reads a few names without a semicolon as well. NULs stand before a character in UTF-16 and UTF-32 that is read
 * byte by byte.
 */
const patterns: readonly string[] = [
  String.raw`%[\dA-Fa-f]{2}`,
  String.raw`\\(?:u[\dA-Fa-f]{4}|[bfnrt"\\/])`,
  String.raw`&(?:#[Xx][\dA-Fa-f]{1,13}(?![\dA-Fa-f]);?|#\d{1,14}(?!\d);?|(?:${Object.keys(entities).join('|')});|(?:amp|AMP|lt|LT|gt|GT|quot|QUOT))`,
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
      return characterAt(/x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)))
    }
    default:
      return escape.at(-1)
  }
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
 * kinds, or one leads to another, all of them are also undone at once.
 */
export function viewsOf(text: string): View[] {
  const raw: View = { text, originAt: (at) => at }
  const alone = single.map((escapes) => undone(raw, escapes))
  return [raw, ...alone.flat(), ...(isMixed(alone) ? undone(raw, together) : [])]
}

/** Whether undoing one kind of escape by itself, as often as there is any, leaves some of another kind. */
function isMixed(alone: readonly (readonly View[])[]): boolean {
  return alone.some((views, kind) => {
    const last = views.at(-1)
    return last !== undefined && single.some((escapes, other) => other !== kind && undo(last, escapes) !== undefined)
  })
}

/** Undone once, again, and so on, until there is nothing to undo. */
function undone(raw: View, escapes: RegExp): View[] {
  const views: View[] = []
  for (let view = undo(raw, escapes); view && views.length < rounds; view = undo(view, escapes)) views.push(view)
  return views
}

/** Undefined if there is no escape. */
function undo({ text, originAt }: View, escapes: RegExp): View | undefined {
  const shown = text.replace(escapes, (escape) => characterOf(escape) ?? escape)
  if (shown.length === text.length) return undefined
  // Places are asked for only if a key was found, which is seldom: they are counted then.
  let origins: Int32Array | undefined
  return { text: shown, originAt: (at) => originAt((origins ??= originsOf(text, shown.length, escapes))[at] as number) }
}

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
