import {
  type Report,
  count,
  type Counts,
  sections,
  type Failure,
  type RecordedRequest,
  type RequirementResult,
  reasonExpected,
  type RecordedBody,
  type RecordedExchange,
  type RecordedResponse,
  type Story,
} from '../harness/report/index.ts'
import {
  markupText,
  capital,
  markupAttribute,
  compactJson,
  duration,
  outcomes,
  shortened,
  levels,
  visible,
  kinds,
  htmlAnchor,
} from './text.ts'
import { type Exchanges, evidence, storyLines, wrongSign } from './view/evidence.ts'
import {
  baselineEntries,
  byOperation,
  standingOf,
  leftOutSentence,
  selectedSummary,
  total,
  byState,
  mapSentence,
  shownMap,
  states,
  exitLine,
  createdObjects,
  runNotes,
  seedLine,
  type Tone,
  kindOf,
  kindsIn,
  type OperationGroup,
} from './view/standing.ts'
import { nextSteps, byCause, type Distinct, failuresOf, notJudged } from './view/next-steps.ts'
import { isOperationId, operation as operationOf } from '../catalogue/operations.ts'
import { STATUS_CODES } from 'node:http'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { packageFile } from '../schemas/validate.ts'

/** Bytes of markup for exchanges and for failures; the page stays well under 6 MB. */
const EXCHANGE_BUDGET = 4_400_000
const FAILURE_BUDGET = 900_000

/**
 * The report as one self-contained page, readable without scripts. Exchanges are read once, and only what the page
 * shows is kept.
 */
export async function* renderHtml(
  report: Report,
  exchanges: Exchanges,
): AsyncGenerator<string, void, undefined> {
  const sending = report.requirements.filter((one) => one.cases > 0).length
  const book = await exchangesByRequirement(exchanges, EXCHANGE_BUDGET / Math.max(sending, 1))
  yield `${pageHead(`${report.target.name}: ${standingOf(report).word}`)}
<body><a class="skip" href="#main">Skip to the results</a>
`
  yield masthead(report)
  yield `<main id="main">\n${failureList(report)}${baselineNotes(report)}${stepList(report)}`
  yield* requirementList(report, book)
  yield `${runDetails(report)}</main>\n<script>${script}</script></body></html>\n`
}

function* requirementList(
  report: Report,
  book: ReadonlyMap<string, string>,
): Generator<string, void, undefined> {
  const failures = report.requirements.reduce((sum, result) => sum + result.failures.length, 0)
  const failureShare = FAILURE_BUDGET / Math.max(failures, 1)
  yield `<section aria-labelledby="requirements" id="list"><h2 id="requirements">Requirements <small>${report.requirements.length}</small></h2>\n${toolbar(report)}\n`
  for (const group of byOperation(report)) {
    yield `<section class="op">${operationHead(group)}\n`
    for (const result of group.results) {
      yield `${requirement(result, { report, failureShare, exchanges: book.get(result.id) ?? '' })}\n`
    }
    yield '</section>\n'
  }
  yield '</section>\n'
}

function baselineNotes(report: Report): string {
  // Expected failures are in the list of failures.
  const entries = baselineEntries(report).filter((one) => one.state !== 'failed as expected')
  if (entries.length === 0) return ''
  const lines = entries.map(
    ({ id, state, why = '' }) =>
      `<li><b>${capital(state)}</b> <code>${markupText(id)}</code>${why && `: ${markupText(why)}`}</li>`,
  )
  const file = markupText(report.run.baseline!.file)
  return `${sectionHead('baseline', 'Baseline', file)}<ul class="plain">${lines.join('')}</ul></section>\n`
}

export function masthead(report: Report): string {
  const { run, suite, target } = report
  const leftOut = leftOutSentence(report)
  const notes = [
    ...runNotes(report),
    ...(leftOut === undefined ? [] : [`left out: ${leftOut}`]),
  ].map((note) => `<li>${markupText(note)}</li>`)
  const { must, should } = selectedSummary(report)
  return `<header class="top">
<p class="kind">Conformance report <span>${markupText(suite.name)} ${markupText(suite.version)}, interface version ${markupText(suite.specVersion)}</span></p>
<h1>${markupText(target.name)}</h1>
<p class="where"><span class="mono">${markupText(target.baseUrl)}</span> <time datetime="${markupAttribute(run.startedAt)}">${markupText(day(run.startedAt))}</time></p>
${verdictBlock(report)}
${nextBlock(report)}${notes.length > 0 ? `<ul class="notes">${notes.join('')}</ul>\n` : ''}${operationsSection(report)}<div class="counts">
${levelCard('Required', 'decides the verdict', must)}
${levelCard('Recommended', run.strict ? 'counts like required (--strict)' : 'reported, does not decide', should)}
</div>
</header>
`
}

const JSON_COLUMNS = 64

const tones = { good: 'p', warning: 'm', bad: 'f' } as const satisfies Record<Tone, string>

function verdictBlock(report: Report): string {
  const { meaning, sign, tone, word } = standingOf(report)
  const { because, code } = report.exit
  const isMeant = report.verdict !== 'not-judged'
  // The verdict may give the reason already.
  const exit =
    isMeant && meaning.startsWith(because) ? `Exit code ${code}.` : sentence(exitLine(report))
  return `<div class="verdict ${tones[tone]}"><span class="seal" aria-hidden="true">${sign}</span><div><h2 class="word">${word}</h2>${isMeant ? `<p>${markupText(sentence(meaning))}</p>` : ''}<p class="exit">${markupText(exit)}</p></div></div>`
}

function nextBlock(report: Report): string {
  const steps = nextSteps(report).map(({ command, paste, text }) => {
    const copied = command ?? (paste === undefined ? '' : compactJson(paste, JSON_COLUMNS))
    return `<li><p>${markupText(text)}</p>${copied && `<pre class="c" tabindex="0">${markupText(copied)}</pre>`}</li>`
  })
  return steps.length === 0
    ? ''
    : `<section class="next" aria-labelledby="next"><h2 id="next">Next</h2><ol>${steps.join('')}</ol></section>\n`
}

function levelCard(title: string, weight: string, counts: Counts): string {
  const marks = Object.values(outcomes)
  const items = marks.map(({ member, sign, tone, word }) => {
    const zero = counts[member] === 0 ? ' zero' : ''
    return `<li class="${tone}${zero}"><i aria-hidden="true">${sign}</i><b>${counts[member]}</b> ${word.toLowerCase()}</li>`
  })
  let x = 0
  const parts = marks.map((mark) => {
    const part = `<rect class="${mark.tone}" x="${x}" width="${counts[mark.member]}" height="1"/>`
    x += counts[mark.member]
    return counts[mark.member] > 0 ? part : ''
  })
  const bar = `<svg class="bar" viewBox="0 0 ${Math.max(x, 1)} 1" preserveAspectRatio="none" aria-hidden="true">${parts.join('')}</svg>`
  return `<section class="card"><h2>${title} <small>${total(counts) - counts.notApplicable}</small></h2><p class="weight">${weight}</p>${bar}<ul class="legend">${items.join('')}</ul></section>`
}

function day(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return time
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function sentence(text: string): string {
  const begun = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : capital(text)
  return /[.?!]$/.test(begun) ? begun : `${begun}.`
}

export function runDetails(report: Report): string {
  const { run, suite, target } = report
  const made = createdObjects(run)
  const rows: [string, string][] = [
    ['Suite', `${suite.name} ${suite.version}`],
    ['Interface', `version ${suite.specVersion}, ${suite.specDigest}`],
    ['Requirements', suite.requirementsDigest],
    ['Target file', target.digest],
    ['Started', run.startedAt],
    [
      'Took',
      `${duration(run.durationMs)}, ${count(run.requests, 'request')}, ${run.throttled} throttled, at most ${run.concurrency} at once`,
    ],
    ...(made === undefined ? [] : [['On your server', made] satisfies [string, string]]),
    [
      'Repeat',
      run.runs === 0
        ? seedLine(report)
        : `${seedLine(report)}, ${run.runs} cases for each generated refusal`,
    ],
  ]
  const list = rows.map(([name, value]) => `<dt>${name}</dt><dd>${markupText(value)}</dd>`).join('')
  return `${sectionHead('run', 'The run')}<dl class="run">${list}</dl></section>\n${glossary}`
}

const glossary = `${sectionHead('words', 'What the words mean')}<dl class="run">
<dt>Incomplete</dt><dd>No required check failed, but some were not tested. In files: passing.</dd>
<dt>Required, recommended</dt><dd>In files: must, should. A failed recommendation is reported, but only decides with --strict.</dd>
<dt>Not tested</dt><dd>The requirement was not judged in this run; the reason is shown with it. It is not a pass.</dd>
<dt>Not applicable</dt><dd>The target does not offer what the requirement is about, or nobody can trigger its condition there.</dd>
<dt>Control</dt><dd>The same request without the fault, sent to prove that a refusal is caused by the fault.</dd>
</dl></section>
`

function operationsSection(report: Report): string {
  const places = shownMap(report)
  if (places === undefined) return ''
  const rows = byState(places).map(([state, own]) => {
    const { sign, tone } = states[state]
    const items = own.map(
      (one) => `<li>${idLink(one.operation)}${one.detail && ` <small>${one.detail}</small>`}</li>`,
    )
    return `<dt class="${tone}"><i aria-hidden="true">${sign}</i>${capital(state)} <b>${own.length}</b></dt><dd><ul>${items.join('')}</ul></dd>`
  })
  return `<section class="map" aria-label="Operations"><p class="lead">${mapSentence(places)}</p><dl>${rows.join('')}</dl></section>\n`
}

const MOST_ROWS = 40

/** Failures, a row each distinct one with what was sent, expected and received; the rest is with the requirement. */
export function failureList(report: Report): string {
  const { distinct, expected, unexpected } = failuresOf(report)
  const rows = [
    ...distinct.map((one) => failureRow(one)),
    ...byCause(expected).map((group) => failureRow(group, 'expected by the baseline')),
  ]
  if (rows.length === 0) return ''
  const more =
    rows.length > MOST_ROWS
      ? `<li>and ${rows.length - MOST_ROWS} more, in the list of requirements</li>\n`
      : ''
  const all = unexpected.length + expected.length
  const title = rows.length < all ? `${all}, ${rows.length} distinct` : all
  return `${sectionHead('failures', 'Failures', title)}
<ol class="failures">
${rows.slice(0, MOST_ROWS).join('\n')}
${more}</ol></section>
`
}

/** Longer lists of ids are folded: they would hide the failures below. */
const MOST_NAMED = 20

function failureRow({ cause, example, results }: Distinct, note?: string): string {
  const [first] = example.failures
  const tags = [
    levels[example.level],
    sections(example.section),
    ...(note === undefined ? [] : [note]),
  ]
  const summary = first
    ? `<dl><dt>Sent</dt><dd>${short(first.message)}</dd><dt>Expected</dt><dd>${short(first.expected)}</dd><dt>Received</dt><dd class="got">${short(first.actual)}</dd></dl>`
    : ''
  const others = results.filter((result) => result !== example)
  const named = others.map((other) => idLink(other.id)).join(', ')
  const heading = `Same for ${others.length} more`
  const same =
    others.length === 0
      ? ''
      : others.length > MOST_NAMED
        ? `<details class="fold"><summary>${heading}</summary><p>${named}</p></details>`
        : `<p>${heading}: ${named}</p>`
  const why =
    cause === undefined
      ? ''
      : `<p class="cause">${markupText(capital(cause.what))}</p><p>${markupText(capital(cause.change))}.</p>`
  return `<li>${why}<p>${idLink(example.id)} ${tags.map((tag) => `<span class="tag">${markupText(tag)}</span>`).join(' ')}</p><p class="ask">${markupText(example.statement)}</p>${summary}${same}</li>`
}

function short(text: string): string {
  return markupText(shortened(text, 300))
}

const MOST_STEPS = 10
/** What to declare next, and how much can be tested then. `init --from`, one of the next steps, writes it. */
function stepList(report: Report): string {
  const groups = notJudged(report)['To declare'] ?? []
  if (groups.length === 0) return ''
  const rows = groups.map(
    ({ ids, reason }) =>
      `<li><b>+${ids.length}</b><span class="mono">${markupText(reason)}</span></li>`,
  )
  const list = (some: readonly string[]) => `<ol class="steps">${some.join('')}</ol>`
  const rest = rows.slice(MOST_STEPS)
  const more =
    rest.length === 0
      ? ''
      : `<details class="fold"><summary>and ${rest.length} others</summary>${list(rest)}</details>`
  return `${sectionHead('declare', 'What to declare next')}${list(rows.slice(0, MOST_STEPS))}${more}</section>
`
}

const words = {
  sent: 'Sent',
  expected: 'Expected',
  received: 'Received',
  note: 'Note',
  again: 'Run again',
  curl: 'By curl',
} as const

/** Bytes of a body and characters of a text, from the largest that fits the share. */
const LIMITS = [16_384, 4096, 1024, 384, 128] as const
const MOST_FAILURES = 5

function failureEvidence(failures: readonly Failure[], failureShare: number): string {
  const shown = failures.slice(0, MOST_FAILURES).map((failure) => fitting(failure, failureShare))
  const more = failures.length - shown.length
  if (more > 0)
    shown.push(`<p class="facts">and ${count(more, 'more failure')} in the JSON report</p>`)
  return shown.join('')
}

function fitting(failure: Failure, share: number): string {
  let markup = ''
  for (const limit of LIMITS) {
    markup = evidenceOf(failure, limit)
    if (Buffer.byteLength(markup) <= share) break
  }
  return markup
}

function evidenceOf(failure: Failure, limit: number): string {
  let [facts, commands] = ['', '']
  for (const [label, text] of evidence(failure, limit)) {
    const row = (shown: string): string => `<dt>${words[label]}</dt><dd>${shown}</dd>`
    if (label !== 'again' && label !== 'curl') facts += row(markupText(text))
    else if (text.length <= limit * 4) commands += row(`<pre class="c">${markupText(text)}</pre>`)
  }
  return `<div class="evidence"><dl>${facts}</dl>${failure.story === undefined ? '' : storyMarkup(failure.story)}${exchange(failure, limit)}${commands && `<dl>${commands}</dl>`}</div>`
}

function exchange(failure: Failure, limit: number): string {
  if (!failure.exchange) return ''
  const { request, response } = failure.exchange
  const sent = folded(request, pre(requestText(request, limit)))
  const received = pre(response ? responseText(response, limit) : 'No answer')
  return `<h4>Request</h4>${sent}<h4>Response</h4>${received}`
}

/** A request with a longer body is folded. */
const LONG = 2048

function folded(recordedRequest: RecordedRequest, markup: string): string {
  if (recordedRequest.body.length <= LONG) return markup
  const size = recordedRequest.bodyLength ?? Buffer.byteLength(recordedRequest.body)
  return `<details class="fold"><summary>Its body has ${size} bytes</summary>${markup}</details>`
}

const controls = {
  granted: 'the same request without the fault was accepted',
  refused: 'the same request without the fault was refused too',
  none: 'none was sent',
} as const

interface RequirementContext {
  readonly report: Report
  /** Markup of the requirement's exchanges; empty if none is kept. */
  readonly exchanges: string
  readonly failureShare: number
}

export function requirement(result: RequirementResult, context: RequirementContext): string {
  const { exchanges, failureShare, report } = context
  const { sign, tone, word } = kinds[kindOf(result)]
  const ranOrNot =
    result.cases > 0
      ? `<p class="facts">${count(result.cases, 'case')} in ${duration(result.durationMs)}. Control: ${controls[result.control]}.</p>`
      : ''
  const why =
    result.reason === undefined
      ? ''
      : `<span class="why">${markupText(shortened(result.reason, 500))}</span>`
  const expected = reasonExpected(report, result.id)
  const known =
    expected === undefined || result.outcome !== 'failed'
      ? ''
      : `<p class="facts">Expected by the baseline: ${markupText(expected)}</p>`
  return `<details class="r ${tone}" id="${markupAttribute(visible(result.id))}" data-o="${kindOf(result)}" data-l="${result.level}"${result.outcome === 'failed' ? ' open' : ''}><summary><span class="sign">${sign}<span class="sr"> ${word}</span></span><span class="what"><span class="mono">${markupText(result.id)}</span><span class="ask">${markupText(result.statement)}</span>${why}</span><span class="meta"><span class="tag">${levels[result.level]}</span> ${markupText(sections(result.section))}</span></summary><div class="in">${known}${failureEvidence(result.failures, failureShare)}${ranOrNot}${exchanges === '' ? '' : `<p class="lead">Exchanges</p>${exchanges}`}</div></details>`
}

export function toolbar(report: Report): string {
  const boxes = kindsIn(report).map(
    ([kind, { sign, tone, word }]) =>
      `<label class="${tone}"><input type="checkbox" name="outcome" value="${kind}"${kind === 'left-out' ? '' : ' checked'}><i aria-hidden="true">${sign}</i>${word}</label>`,
  )
  return `<div class="tools" id="tools" role="search" aria-label="Requirements" hidden><input type="search" id="find" placeholder="Search id, statement, reason" aria-label="Search requirements"><fieldset><legend class="sr">Outcome</legend>${boxes.join('')}</fieldset><label class="sr" for="level">Level</label><select id="level"><option value="">Required and recommended</option><option value="must">Required only</option><option value="should">Recommended only</option></select><button type="button" id="fold">Open all</button><output id="shown"></output></div>`
}

export function operationHead(operationGroup: OperationGroup): string {
  const line = isOperationId(operationGroup.operation)
    ? operationOf(operationGroup.operation)
    : undefined
  const path = line ? `<span class="path mono">${line.method} ${markupText(line.path)}</span>` : ''
  const tally = Object.entries(kinds).map(([kind, { sign, tone, word }]) => {
    const number = operationGroup.results.filter((result) => kindOf(result) === kind).length
    return number === 0
      ? ''
      : `<span class="${tone}"><i aria-hidden="true">${sign}</i>${number}<span class="sr"> ${word.toLowerCase()}</span></span>`
  })
  return `<h3 id="${markupAttribute(visible(operationGroup.operation))}"><span class="mono">${markupText(operationGroup.operation)}</span> ${path}<span class="tally">${tally.join('')}</span></h3>`
}

const BODY_LIMIT = 1024
/** A longer curl line is not shown: it would contain more of the body than the page does. */
const CURL_LIMIT = 2048

function exchangeMarkup(exchange: RecordedExchange): string {
  const { curl, error, request, response } = exchange
  const answered = response ? String(response.status) : 'no answer'
  const isShort = Buffer.byteLength(request.body) <= BODY_LIMIT && curl.length <= CURL_LIMIT
  const sent = isShort
    ? `<pre class="c">${markupText(curl)}</pre>`
    : pre(requestText(request, BODY_LIMIT))
  const received = response
    ? responseText(response, BODY_LIMIT)
    : `No answer: ${error ?? 'no reason was recorded'}`
  return `<details class="x"><summary><b>${markupText(request.method)}</b> <span>${markupText(pathOf(request.url))}</span> → <b>${answered}</b> <small>${exchange.role}, ${duration(exchange.durationMs)}</small></summary>${sent}${pre(received)}</details>`
}

const MOST_EXCHANGES = 50

/**
 * Reads the exchanges once and keeps the markup of the first ones of each requirement; the run's own are only in the HAR.
 * @param room bytes of markup for each
 */
export async function exchangesByRequirement(
  exchanges: Exchanges,
  room: number,
): Promise<ReadonlyMap<string, string>> {
  const book = new Map<string, { shown: string[]; bytes: number; all: number }>()
  for await (const exchange of exchanges) {
    if (exchange.requirement === null) continue
    const sent = book.get(exchange.requirement) ?? { shown: [], bytes: 0, all: 0 }
    book.set(exchange.requirement, sent)
    sent.all++
    // Those after one that is not shown are not shown either.
    if (sent.shown.length === MOST_EXCHANGES || sent.shown.length < sent.all - 1) continue
    const markup = exchangeMarkup(exchange)
    sent.bytes += Buffer.byteLength(markup)
    if (sent.bytes <= room) sent.shown.push(markup)
  }
  return new Map(
    [...book].map(([id, { all, shown }]) => {
      const more = all - shown.length
      const rest = `<p class="x">and ${more} more: the HAR report has every exchange</p>`
      return [id, [...shown, ...(more > 0 ? [rest] : [])].join('\n')]
    }),
  )
}

/** Parsers drop the first line feed in `pre`, so one is added. */
export function pre(text: string): string {
  return `<pre>\n${markupText(text)}</pre>`
}

function pathOf(url: string): string {
  return shortened(url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/', 200)
}

/** A request as text: request line, headers, at most `limit` bytes of body and half as many characters per header. */
export function requestText(request: RecordedRequest, limit: number): string {
  return message(`${request.method} ${shortened(request.url, limit)}`, request, limit)
}

export function responseText(response: RecordedResponse, limit: number): string {
  return message(
    `${response.status} ${STATUS_CODES[response.status] ?? ''}`.trimEnd(),
    response,
    limit,
  )
}

function message(
  line: string,
  { headers, ...body }: RecordedRequest | RecordedResponse,
  limit: number,
): string {
  const lines = Object.entries(headers).map(([name, value]) =>
    shortened(`${name}: ${value}`, limit / 2),
  )
  const head = [line, ...lines].join('\n')
  if (body.body === '') return head
  return `${head}\n\n${bodyText(body, limit)}`
}

function bodyText({ body, bodyEncoding, bodyLength }: RecordedBody, limit: number): string {
  const bytes = Buffer.from(body)
  const all = bodyLength ?? Buffer.byteLength(body, bodyEncoding ?? 'utf8')
  const shown = bytes.length <= limit ? body : firstBytes(bytes, limit)
  const notes = [
    ...(bodyEncoding ? ['bytes as base64'] : []),
    ...(shown.length < body.length || bodyLength !== undefined
      ? [`truncated; the whole body has ${all} bytes`]
      : []),
  ]
  return notes.length > 0 ? `${shown}\n[${notes.join('; ')}]` : shown
}

function firstBytes(bytes: Buffer, limit: number): string {
  let end = limit
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

export function storyMarkup(story: Story): string {
  const lines = storyLines(story).map((line) =>
    line.includes(wrongSign) ? `<mark>${markupText(line)}</mark>` : markupText(line),
  )
  return `<h4>What happened</h4><pre tabindex="0">\n${lines.join('\n')}</pre>`
}

const read = (name: string) => readFileSync(packageFile(`reporters/html/${name}`), 'utf8').trim()
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const style = read('page.css')
export const script = read('page.js')

/** Allows only this style and script, by hash: nothing remote, no inline event code. */
const policy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export function pageHead(title: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${markupAttribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${markupText(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style></head>`
}

export function sectionHead(id: string, title: string, aside: string | number = ''): string {
  const quiet = aside === '' ? '' : ` <small>${aside}</small>`
  return `<section aria-labelledby="${id}"><h2 id="${id}">${title}${quiet}</h2>`
}

export function idLink(id: string): string {
  return `<a class="mono" href="${htmlAnchor(id)}">${markupText(id)}</a>`
}
