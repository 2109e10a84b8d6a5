import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { packageFile } from '../../schemas/package-file.ts'
import { markup, Markup } from './markup.ts'
import type { Registered } from './read-folder.ts'
import { standingOf } from './standing.ts'

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
