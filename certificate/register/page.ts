import { readFileSync } from 'node:fs'
import { htmlAttribute } from '../../reporters/escape.ts'
import { pageHead } from '../../reporters/html/assets.ts'
import { nameMarks } from '../../reporters/name-marks.ts'
import { countsText } from '../../reporters/view/groups.ts'
import { groupBy } from '../../harness/group-by.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { packageFile } from '../../schemas/package-file.ts'
import { between, unservedNames } from '../describe.ts'
import { operationCount } from '../statement.ts'
import type { Excluded, Predicate } from '../statement-schema.ts'
import { type Registered, bundleName, certificateName, type Service } from './read-folder.ts'

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
    return typeof part === 'object'
      ? part.map(({ text }) => text).join('')
      : htmlAttribute(String(part))
  })
  return new Markup(texts.map((text, index) => text + (written[index] ?? '')).join(''))
}

/**
 * The status of a certificate, in the words of pages, badges and `index.json`, with a sign for those who do not see the colour: never
 * a bare `conformant` for less than all operations of a whole run that is still to be relied on.
 */
export function standingOf({ status, statement: { predicate } }: Registered): {
  readonly tone: 'good' | 'fair' | 'bad' | 'none'
  readonly sign: string
  readonly words: string
} {
  const { verdicts, partial, operations } = predicate
  if (status === 'revoked') return { tone: 'bad', sign: '✗', words: 'revoked' }
  if (status === 'expired') return { tone: 'none', sign: '!', words: 'expired' }
  const judged = operations.judged.length
  const some = judged < operationCount ? `, ${judged} of ${operationCount} operations` : ''
  if (verdicts.exact === 'non-conformant')
    return { tone: 'bad', sign: '✗', words: `non-conformant${some}` }
  if (partial.length > 0)
    return { tone: 'fair', sign: '!', words: `${verdicts.exact}, partial${some}` }
  return { tone: 'good', sign: '✓', words: `${verdicts.exact}${some}` }
}

/** Footer of each page: what no certificate says. */
const LIMITS =
  'A certificate says what its signer claims of one run: not that the suite was run unchanged, nor that the service is ' +
  'still the one that was judged.'

/** A whole page: nothing is fetched, and no script is run. */
export function page(title: string, body: Markup, now: Date): string {
  const base = readFileSync(packageFile('reporters/html/style/base.css'), 'utf8')
  const style = base + readFileSync(packageFile('certificate/register/style.css'), 'utf8')
  return markup`${new Markup(pageHead(title, { style }))}
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

function day(time: string): Markup {
  return markup`<time datetime="${time}">${time.slice(0, 10)}</time>`
}

/** From when until when, or why no longer. */
export function validity({ status, revocation, statement: { predicate } }: Registered): Markup {
  if (revocation) return markup`revoked on ${day(revocation.day)}: ${revocation.reason}`
  const { issuedAt, expiresAt } = predicate
  if (status === 'expired') return markup`expired on ${day(expiresAt)}`
  return markup`valid from ${day(issuedAt)} until ${day(expiresAt)}`
}

/** Says how many requirements of which version judged it. */
export function judgedBy({ statement: { predicate } }: Registered): string {
  const { requirements, suite } = predicate
  return `${requirements.count} requirements of version ${suite.version}`
}

/** A warning for each way in which a name may not be what it looks like. */
export function marksPart(name: string): Markup {
  const marks = nameMarks(name).map((mark) => markup`<p class="mark">This name holds ${mark}.</p>`)
  return markup`${marks}`
}

/** Stands for the address of the page, which nobody knows when it is built. */
const PAGE = 'https://PAGE/'
const MOST_IDS = 5

/** The page of a service: its status, what was judged and what was not, who signed, and all its certificates. */
export function servicePage(
  { name, uri, current, certificates }: Service,
  badge: string,
  now: Date,
): string {
  const { tone, sign, words } = standingOf(current)
  const { predicate } = current.statement
  const partial = predicate.partial.map((reason) => markup`<li>Partial: ${reason}</li>`)
  const body = markup`<nav class="crumb"><a href="../../index.html">Certified services</a></nav>
<header><h1>${name}</h1><p class="mono soft">${uri}</p>${marksPart(name)}
<div class="verdict ${tone}"><p class="word"><span aria-hidden="true">${sign}</span> ${words}</p><p>${validity(current)}</p>${
    partial.length > 0 ? markup`<ul class="list">${partial}</ul>` : ''
  }</div></header>
<main>
${badgePart(current, badge)}
${operationsPart(predicate)}
${excludedPart('Not tested', predicate.notExercised)}
${excludedPart('Not applicable', predicate.notApplicable)}
${runPart(current)}
<section><h2>Certificates</h2><ul class="services">${certificates.map(certificate)}</ul></section>
</main>`
  return page(`${name}: ${words}`, body, now)
}

function operationsPart({ operations }: Predicate): Markup {
  const lists: [string, readonly string[]][] = [
    [`Judged, ${operations.judged.length} of ${operationCount}`, operations.judged],
    ['Declared not served', unservedNames(operations)],
    ['Declared removed', operations.removed],
    ['Not tested at all', operations.notExercised],
  ]
  return definitions(
    'Operations',
    lists.filter(([, names]) => names.length > 0).map(([word, names]) => [word, names.join(', ')]),
  )
}

function excludedPart(title: string, excluded: readonly Excluded[]): Markup | '' {
  if (excluded.length === 0) return ''
  const items = [...groupBy(excluded, ({ reason }) => reason)].map(([reason, of]) => {
    const ids = of.slice(0, MOST_IDS).map(({ id }) => id)
    const more = of.length > MOST_IDS ? ` and ${of.length - MOST_IDS} more` : ''
    return markup`<li>${reason}: <span class="soft">${ids.join(', ')}${more}</span></li>`
  })
  return markup`<section><h2>${title}: ${excluded.length}</h2><ul class="list screen">${items}</ul></section>`
}

function runPart(current: Registered): Markup {
  const { run, suite, spec, summary, verdicts } = current.statement.predicate
  return definitions('The run', [
    ['Judged on', day(run.startedAt)],
    ['By', `${suite.name} ${suite.version}, the interface in version ${spec.version}`],
    ['Requirements', judgedBy(current)],
    ['Must', countsText(summary.must)],
    ['Should', countsText(summary.should)],
    [
      'Mode',
      run.tpe === 'exact' ? 'exact names' : `family names; in it the verdict is ${verdicts.family}`,
    ],
    ...between(run).map((what): [string, string] => ['Between', what]),
    ['Runs', `${run.runs} for each generated refusal, ${run.requests} requests, seed ${run.seed}`],
  ])
}

function definitions(title: string, rows: readonly (readonly [string, string | Markup])[]): Markup {
  const items = rows.map(([word, value]) => markup`<dt>${word}</dt><dd>${value}</dd>`)
  return markup`<section><h2>${title}</h2><dl>${items}</dl></section>`
}

function badgePart(current: Registered, badge: string): Markup {
  const { words } = standingOf(current)
  const data = `data:image/svg+xml;base64,${Buffer.from(badge).toString('base64')}`
  const alt = `conformance: ${words}`
  const html = `<a href="${PAGE}"><img src="${PAGE}badge.svg" alt="${alt}"></a>`
  return markup`<section class="badge"><h2>Badge</h2><p><img src="${data}" alt="${alt}" height="20"></p>
<div class="screen"><p>To show it, put the address of this page in the place of ${PAGE}:</p>
<pre>[![${alt}](${PAGE}badge.svg)](${PAGE})</pre><pre>${html}</pre></div></section>`
}

/** The file to hand out: the bundle, which stands by itself, if there is one. */
function certificate(one: Registered): Markup {
  const file = one.bundle ? bundleName(one) : certificateName(one)
  const signers = one.signedBy.map(
    ({ id, name = 'a trusted key' }) =>
      markup`<p class="soft">Signed by ${name}, <span class="mono">${id}</span></p>`,
  )
  const bundle = one.bundle
    ? markup`<p><a href="${file}">The bundle</a>, with its report and exchanges</p>`
    : ''
  return markup`
<li class="card"><div><p><a href="${certificateName(one)}">Certificate of the run on ${one.statement.predicate.run.startedAt.slice(0, 10)}</a></p>${bundle}</div>
${standingMark(one)}
<div class="facts"><p>${validity(one)}</p>${signers}<p class="soft mono">${one.id}</p>
<p>To check it, with the <a href="../../index.json">index.json</a> of this register beside it:</p><pre>${verifyCommand(one, file)}</pre></div></li>`
}

/** Command that tells a stranger whether to rely on it: by whom, for which address, and whether it was revoked. */
function verifyCommand(
  { signedBy, statement: { predicate, subject } }: Registered,
  file: string,
): Markup {
  const isWhole = predicate.verdicts.exact === 'conformant' && predicate.partial.length === 0
  const options = [
    `--key-id ${signedBy[0]?.id ?? ''}`,
    `--base-url ${shellWord(subject[0].uri)}`,
    ...(isWhole ? ['--require conformant'] : []),
  ].map((option) => markup` \\\n  ${option}`)
  return markup`conform verify ${file} --revoked index.json${options}`
}
