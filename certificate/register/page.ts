import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { htmlAttribute } from '../../reporters/escape/html.ts'
import { nameMarks } from '../../reporters/escape/name-marks.ts'
import { packageFile } from '../../schemas/package-file.ts'
import { operationCount } from '../make-statement.ts'
import type { Registered } from './read-folder.ts'

/** HTML that is written already. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | readonly Markup[]

/**
 * The one way in which the register writes HTML: whatever is put into the template is escaped, for text and for attributes
 * alike, unless it was made by this function.
 */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const written = parts.map((part) => {
    if (part instanceof Markup) return part.text
    return typeof part === 'object' ? part.map(({ text }) => text).join('') : htmlAttribute(String(part))
  })
  return new Markup(texts.map((text, index) => text + (written[index] ?? '')).join(''))
}

/** The status of a certificate, in the words of pages, badges and `index.json`. */
interface Standing {
  readonly tone: 'good' | 'fair' | 'bad' | 'none'
  /** A sign beside the words, for those who do not see the colour. */
  readonly sign: string
  /** Never a bare `conformant` for less than all operations of a whole run that is still to be relied on. */
  readonly words: string
}

export function standingOf({ status, statement: { predicate } }: Registered): Standing {
  const { verdicts, partial, operations } = predicate
  if (status === 'revoked') return { tone: 'bad', sign: '✗', words: 'revoked' }
  if (status === 'expired') return { tone: 'none', sign: '!', words: 'expired' }
  const judged = operations.judged.length
  const some = judged < operationCount ? `, ${judged} of ${operationCount} operations` : ''
  if (verdicts.exact === 'non-conformant') return { tone: 'bad', sign: '✗', words: `non-conformant${some}` }
  if (partial.length > 0) return { tone: 'fair', sign: '!', words: `${verdicts.exact}, partial${some}` }
  return { tone: 'good', sign: '✓', words: `${verdicts.exact}${some}` }
}

/** What no certificate says, under each page. */
const LIMITS =
  'A certificate says what its signer claims of one run: not that the suite was run unchanged, nor that the service is ' +
  'still the one that was judged.'

/** A whole page: nothing is fetched, and no script is run. */
export function page(title: string, body: Markup, now: Date): string {
  const style = readFileSync(packageFile('certificate/register/style.css'), 'utf8')
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Markup(style)}</style></head>
<body>
${body}
<footer class="soft"><p>As of ${now.toISOString().slice(0, 10)}. ${LIMITS}</p></footer>
</body></html>
`.text
}

/** The status of a certificate, as a coloured word with a sign. */
export function standingMark(one: Registered): Markup {
  const { tone, sign, words } = standingOf(one)
  return markup`<p class="standing ${tone}"><span aria-hidden="true">${sign}</span> ${words}</p>`
}

export function day(time: string): Markup {
  return markup`<time datetime="${time}">${time.slice(0, 10)}</time>`
}

/** From when until when, or why no longer. */
export function validity({ status, revocation, statement: { predicate } }: Registered): Markup {
  if (revocation) return markup`revoked on ${day(revocation.day)}: ${revocation.reason}`
  const { issuedAt, expiresAt } = predicate
  if (status === 'expired') return markup`expired on ${day(expiresAt)}`
  return markup`valid from ${day(issuedAt)} until ${day(expiresAt)}`
}

/** By which version and how many requirements it was judged. */
export function judgedBy({ isForeign, statement: { predicate } }: Registered): string {
  const { requirements, suite } = predicate
  const which = `${requirements.count} requirements of version ${suite.version}`
  return isForeign ? `${which}, which is not known here` : which
}

/** A warning for each way in which a name may not be what it looks like. */
export function marksPart(name: string): Markup {
  const marks = nameMarks(name).map((mark) => markup`<p class="mark">This name holds ${mark}.</p>`)
  return markup`${marks}`
}
