import {
  type Report,
  count,
  isLeftOutByOption,
  sections,
  summarize,
  type Failure,
  type RecordedRequest,
  type RequirementResult,
  type RecordedExchange,
  type RecordedResponse,
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
import { type EvidenceLine, type Exchanges, evidence, isCommand } from './view/evidence.ts'
import {
  baselineEntries,
  byOperation,
  standingOf,
  selectedResults,
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
  type OperationGroup,
} from './view/standing.ts'
import { nextSteps, type Distinct, failuresOf, notJudged } from './view/next-steps.ts'
import { isOperationId, operationOf } from '../catalogue/operations.ts'
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
      yield `${requirement(result, { failureShare, exchanges: book.get(result.id) ?? '' })}\n`
    }
    yield '</section>\n'
  }
  yield '</section>\n'
}

function baselineNotes(report: Report): string {
  const lines = baselineEntries(report).map(
    ({ id, state, why = '' }) =>
      `<li><b>${capital(state)}</b> ${idLink(id)}${why && `: ${markupText(why)}`}</li>`,
  )
  if (lines.length === 0) return ''
  const file = markupText(report.run.baseline!.file)
  return `${sectionHead('baseline', 'Baseline', file)}<ul class="plain">${lines.join('')}</ul></section>\n`
}

function masthead(report: Report): string {
  const { run, suite, target } = report
  const notes = runNotes(report).map((note) => `<li>${markupText(note)}</li>`)
  return `<header class="top">
<p class="kind">Conformance report <span>${markupText(suite.name)} ${markupText(suite.version)}, interface version ${markupText(suite.specVersion)}</span></p>
<h1>${markupText(target.name)}</h1>
<p class="where"><span class="mono">${markupText(target.baseUrl)}</span> <time datetime="${markupAttribute(run.startedAt)}">${new Date(run.startedAt).toUTCString()}</time></p>
${verdictBlock(report)}
${nextBlock(report)}${notes.length > 0 ? `<ul class="notes">${notes.join('')}</ul>\n` : ''}${operationsSection(report)}${countsTable(report)}
</header>
`
}

const JSON_COLUMNS = 64

const tones = { good: 'p', warning: 'm', bad: 'f' } as const satisfies Record<Tone, string>

function verdictBlock(report: Report): string {
  const { meaning, sign, tone, word } = standingOf(report)
  const said = report.verdict === 'not-judged' ? '' : `<p>${markupText(capital(meaning))}</p>`
  return `<div class="verdict ${tones[tone]}"><span class="seal" aria-hidden="true">${sign}</span><div><h2 class="word">${word}</h2>${said}<p>${markupText(capital(exitLine(report)))}</p></div></div>`
}

function nextBlock(report: Report): string {
  const steps = nextSteps(report).map((step) => {
    const { paste } = step
    const copied = step.command ?? (paste === undefined ? '' : compactJson(paste, JSON_COLUMNS))
    return `<li><p>${markupText(step.text)}</p>${copied && `<pre class="c" tabindex="0">${markupText(copied)}</pre>`}</li>`
  })
  return steps.length === 0
    ? ''
    : `<section class="next" aria-labelledby="next"><h2 id="next">Next</h2><ol>${steps.join('')}</ol></section>\n`
}

function countsTable(report: Report): string {
  const summary = summarize(selectedResults(report))
  const marks = Object.values(outcomes)
  const heads = marks.map(
    ({ sign, tone, word }) =>
      `<th scope="col" class="${tone}"><i aria-hidden="true">${sign}</i>${word}</th>`,
  )
  const rows = (['must', 'should'] as const).map((level) => {
    const cells = marks.map((mark) => `<td>${summary[level][mark.member]}</td>`)
    return `<tr><th scope="row">${capital(levels[level])}</th>${cells.join('')}</tr>`
  })
  return `<table class="counts"><tr><td></td>${heads.join('')}</tr>${rows.join('')}</table>`
}

function runDetails(report: Report): string {
  const { run, suite, target } = report
  const made = createdObjects(run)
  const rows: [string, string][] = [
    ['Suite', `${suite.name} ${suite.version}`],
    ['Interface', `version ${suite.specVersion}, ${suite.specDigest}`],
    ['Requirements', suite.requirementsDigest],
    ['Target file', target.digest],
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
  return `${sectionHead('run', 'The run')}<dl class="run">${list}</dl></section>\n`
}

function operationsSection(report: Report): string {
  const places = shownMap(report)
  if (places === undefined) return ''
  const rows = byState(places).map((group) => {
    const { sign, tone } = states[group.state]
    const items = group.places.map(
      (one) => `<li>${idLink(one.operation)}${one.detail && ` <small>${one.detail}</small>`}</li>`,
    )
    return `<dt class="${tone}"><i aria-hidden="true">${sign}</i>${capital(group.state)} <b>${group.places.length}</b></dt><dd><ul>${items.join('')}</ul></dd>`
  })
  return `<section class="map" aria-label="Operations"><p class="lead">${mapSentence(places)}</p><dl>${rows.join('')}</dl></section>\n`
}

const MOST_ROWS = 40

/** Failures, a row each distinct one with what was sent, expected and received; the rest is with the requirement. */
function failureList(report: Report): string {
  const { distinct, unexpected } = failuresOf(report)
  if (distinct.length === 0) return ''
  const { length } = distinct
  const more =
    length > MOST_ROWS
      ? `<li>and ${length - MOST_ROWS} more, in the list of requirements</li>\n`
      : ''
  const title = `${unexpected.length}${length < unexpected.length ? `, ${length} distinct` : ''}`
  return `${sectionHead('failures', 'Failures', title)}
<ol class="failures">
${distinct.slice(0, MOST_ROWS).map(failureRow).join('\n')}
${more}</ol></section>
`
}

function failureRow(distinct: Distinct): string {
  const { cause, example, results } = distinct
  const [first] = example.failures
  const facts =
    first === undefined ? '' : `<dl>${evidence(first, 300).slice(0, 3).map(factRow).join('')}</dl>`
  const others = results.filter((result) => result !== example).map((result) => idLink(result.id))
  const same =
    others.length === 0
      ? ''
      : `<details class="fold"><summary>Same for ${others.length} more</summary><p>${others.join(', ')}</p></details>`
  const why =
    cause === undefined
      ? ''
      : `<p class="cause">${markupText(capital(cause.what))}</p><p>${markupText(capital(cause.change))}.</p>`
  return `<li>${why}<p>${idLink(example.id)} <span class="tag">${levels[example.level]}</span> <span class="tag">${markupText(sections(example.section))}</span></p><p class="ask">${markupText(example.statement)}</p>${facts}${same}</li>`
}

const MOST_STEPS = 10
/** What to declare next, and how much can be tested then. `init --from`, one of the next steps, writes it. */
function stepList(report: Report): string {
  const groups = notJudged(report)['To declare'] ?? []
  if (groups.length === 0) return ''
  const rows = groups.map(
    (group) =>
      `<li><b>+${group.ids.length}</b><span class="mono">${markupText(group.reason)}</span></li>`,
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
  const lines = evidence(failure, limit)
  const facts = lines.filter((line) => !isCommand(line)).map(factRow)
  const commands = lines
    .filter((line) => isCommand(line) && line.text.length <= limit * 4)
    .map(
      (line) =>
        `<dt>${words[line.label]}</dt><dd><pre class="c">${markupText(line.text)}</pre></dd>`,
    )
  const { exchange } = failure
  const received = exchange?.response ? responseText(exchange.response, limit) : 'No answer'
  const messages = exchange
    ? `<h4>Request</h4>${pre(requestText(exchange.request, limit))}<h4>Response</h4>${pre(received)}`
    : ''
  return `<div class="evidence"><dl>${facts.join('')}</dl>${messages}<dl>${commands.join('')}</dl></div>`
}

function factRow(line: EvidenceLine): string {
  return `<dt>${words[line.label]}</dt><dd class="${line.label}">${markupText(line.text)}</dd>`
}

const controls = {
  granted: 'the same request without the fault was accepted',
  refused: 'the same request without the fault was refused too',
  none: 'none was sent',
} as const

interface RequirementContext {
  /** Markup of the requirement's exchanges; empty if none is kept. */
  readonly exchanges: string
  readonly failureShare: number
}

function requirement(result: RequirementResult, context: RequirementContext): string {
  const { exchanges, failureShare } = context
  const { sign, tone, word } = kinds[kindOf(result)]
  const ranOrNot =
    result.cases > 0
      ? `<p class="facts">${count(result.cases, 'case')} in ${duration(result.durationMs)}. Control: ${controls[result.control]}.</p>`
      : ''
  const why =
    result.reason === undefined
      ? ''
      : `<span class="why">${markupText(shortened(result.reason, 500))}</span>`
  return `<details class="r ${tone}" id="${markupAttribute(visible(result.id))}" data-o="${kindOf(result)}"${result.outcome === 'failed' ? ' open' : ''}><summary><span class="sign">${sign}<span class="sr"> ${word}</span></span><span class="what"><span class="mono">${markupText(result.id)}</span><span class="ask">${markupText(result.statement)}</span>${why}</span><span class="meta"><span class="tag">${levels[result.level]}</span> ${markupText(sections(result.section))}</span></summary><div class="in">${failureEvidence(result.failures, failureShare)}${ranOrNot}${exchanges === '' ? '' : `<p class="lead">Exchanges</p>${exchanges}`}</div></details>`
}

function toolbar(report: Report): string {
  const isPart = report.requirements.some(isLeftOutByOption)
  const boxes = Object.entries(kinds).map(([kind, { sign, tone, word }]) => {
    if (kind === 'left-out' && !isPart) return ''
    return `<label class="${tone}"><input type="checkbox" name="outcome" value="${kind}"${kind === 'left-out' ? '' : ' checked'}><i aria-hidden="true">${sign}</i>${word}</label>`
  })
  return `<div class="tools" id="tools" role="search" aria-label="Requirements" hidden><input type="search" id="find" placeholder="Search id, statement, level, reason" aria-label="Search requirements"><fieldset><legend class="sr">Outcome</legend>${boxes.join('')}</fieldset><output id="shown"></output></div>`
}

function operationHead(group: OperationGroup): string {
  const { operation, results } = group
  const { method, path } = isOperationId(operation) ? operationOf(operation) : {}
  const tally = Object.entries(kinds).map(([kind, { sign, tone, word }]) => {
    const number = results.filter((result) => kindOf(result) === kind).length
    return number === 0
      ? ''
      : `<span class="${tone}"><i aria-hidden="true">${sign}</i>${number}<span class="sr"> ${word.toLowerCase()}</span></span>`
  })
  return `<h3 id="${markupAttribute(visible(operation))}"><span class="mono">${markupText(operation)}</span> ${method === undefined ? '' : `<span class="path mono">${method} ${path}</span>`}<span class="tally">${tally.join('')}</span></h3>`
}

const BODY_LIMIT = 1024
/** A longer curl line is not shown: it would contain more of the body than the page does. */
const CURL_LIMIT = 2048

function exchangeMarkup(exchange: RecordedExchange): string {
  const { curl, error, request, response } = exchange
  const answered = response ? String(response.status) : 'no answer'
  const path = request.url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/'
  const isShort = Buffer.byteLength(request.body) <= BODY_LIMIT && curl.length <= CURL_LIMIT
  const sent = isShort
    ? `<pre class="c">${markupText(curl)}</pre>`
    : pre(requestText(request, BODY_LIMIT))
  const received = response
    ? responseText(response, BODY_LIMIT)
    : `No answer: ${error ?? 'no reason was recorded'}`
  return `<details class="x"><summary><b>${markupText(request.method)}</b> <span>${markupText(shortened(path, 200))}</span> → <b>${answered}</b> <small>${exchange.role}, ${duration(exchange.durationMs)}</small></summary>${sent}${pre(received)}</details>`
}

const MOST_EXCHANGES = 50

/**
 * Reads the exchanges once and keeps the markup of the first ones of each requirement; the run's own are only in the HAR.
 * @param room bytes of markup for each
 */
async function exchangesByRequirement(
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
  const markup = new Map<string, string>()
  for (const [id, { all, shown }] of book) {
    const more = all - shown.length
    const rest = `<p class="x">and ${more} more: the HAR report has every exchange</p>`
    markup.set(id, [...shown, ...(more > 0 ? [rest] : [])].join('\n'))
  }
  return markup
}

/** Parsers drop the first line feed in `pre`, so one is added. */
function pre(text: string): string {
  return `<pre tabindex="0">\n${markupText(text)}</pre>`
}

function requestText(request: RecordedRequest, limit: number): string {
  return messageText(`${request.method} ${shortened(request.url, limit)}`, request, limit)
}

function responseText(response: RecordedResponse, limit: number): string {
  const { status } = response
  return messageText(`${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), response, limit)
}

/** A message as text, with at most `limit` bytes of its body and half as many characters of each header. */
function messageText(
  line: string,
  { body, bodyEncoding, bodyLength, headers }: RecordedRequest | RecordedResponse,
  limit: number,
): string {
  const lines = Object.entries(headers).map(([name, value]) =>
    shortened(`${name}: ${value}`, limit / 2),
  )
  // A character of which a part is left out is left out.
  const shown = new TextDecoder().decode(Buffer.from(body).subarray(0, limit), { stream: true })
  const all = bodyLength ?? Buffer.byteLength(body, bodyEncoding ?? 'utf8')
  const notes = [
    ...(bodyEncoding ? ['bytes as base64'] : []),
    ...(shown.length < body.length || bodyLength !== undefined
      ? [`truncated; the whole body has ${all} bytes`]
      : []),
  ]
  return [
    ...[line, ...lines],
    ...(body === '' ? [] : ['', shown]),
    ...(notes.length > 0 ? [`[${notes.join('; ')}]`] : []),
  ].join('\n')
}

const read = (name: string) => readFileSync(packageFile(`reporters/html/${name}`), 'utf8').trim()
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const style = read('page.css')
const script = read('page.js')

/** Allows only this style and script, by hash: nothing remote, no inline event code. */
const policy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

function pageHead(title: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${markupAttribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${markupText(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style></head>`
}

function sectionHead(id: string, title: string, aside: string | number = ''): string {
  const quiet = aside === '' ? '' : ` <small>${aside}</small>`
  return `<section aria-labelledby="${id}"><h2 id="${id}">${title}${quiet}</h2>`
}

function idLink(id: string): string {
  return `<a class="mono" href="${htmlAnchor(id)}">${markupText(id)}</a>`
}
