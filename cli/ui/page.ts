import { readFileSync } from 'node:fs'
import { type Report, summarize } from '../../harness/report/index.ts'
import { htmlText, htmlAttribute } from '../../reporters/escape.ts'
import {
  idLink,
  policyFor,
  sectionHead,
  script as reportScript,
  style as reportStyle,
} from '../../reporters/html/assets.ts'
import {
  failureList,
  likelyList,
  stepList,
  matrix,
  matrixCell,
} from '../../reporters/html/lists.ts'
import {
  countCards,
  verdictBlock,
  nextBlock,
  runDetails,
  operationsSection,
} from '../../reporters/html/overview.ts'
import { toolbar, operationHead, requirement } from '../../reporters/html/requirement.ts'
import { byOperation, kindOf, kindsOf } from '../../reporters/view/groups.ts'
import { type Mark, outcomes } from '../../reporters/view/writing.ts'
import { packageFile } from '../../schemas/package-file.ts'
import { readingsOf } from '../explain/explanation.ts'
import type { Changes } from '../session.ts'
import type { Board, Row } from './board.ts'

const read = (name: string): string => readFileSync(packageFile(`cli/ui/${name}`), 'utf8').trim()

const style = `${reportStyle}\n${read('live.css')}`
const script = `${reportScript}\n${read('live.js')}`

/** Nothing but that style and that script, and requests to where the page came from; nobody frames it. */
export const policy = `${policyFor({ style, script })}; connect-src 'self'; frame-ancestors 'none'`

/** The whole page with the current state; what changes afterwards comes by events. */
export function pageMarkup(board: Board, around: Surroundings): string {
  const report = board.report()
  const { suite, target } = report
  const parts = onceParts(board, around)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlText(target.name)}: conform</title>
<link rel="icon" href="data:," id="icon">
<style>${style}</style></head>
<body data-version="${board.version}"><a class="skip" href="#main">Skip to the results</a>
<header class="top"><p class="kind">Conformance, live <span>${htmlText(suite.name)} ${htmlText(suite.version)}, interface version ${htmlText(suite.specVersion)}</span></p>
<h1>${htmlText(target.name)}</h1>
<p class="where"><span class="mono">${htmlText(target.baseUrl)}</span></p></header>
${controls}
<main id="main" tabindex="-1">
${parts.verdict}${parts.map}${parts.causes}${parts.counts}${parts.changes}${parts.failed}${parts['declare-next']}
<a class="skip" href="#requirements">Skip the matrix</a>
${matrix(report, { more: [waiting], markOf: ({ id }) => markOf(board.rows.get(id)!, report), isLive: true })}
${requirementList(board)}
${parts.details}</main>
<script>${script}</script></body></html>
`
}

const controls = `<section class="controls" aria-label="Run"><div>
<button type="button" class="main" data-do="all">Run all</button>
<button type="button" data-do="failed">Run failed <b id="failed-count"></b></button>
<button type="button" data-do="untested" hidden>Go on with the <b id="untested-count"></b> not tested</button>
<button type="button" data-do="stop">Stop</button>
<p id="now"></p><progress id="progress" aria-label="Requirements judged" hidden></progress>
<details class="keys"><summary>Keys</summary><dl><dt>j, k</dt><dd>next and previous requirement</dd><dt>r</dt><dd>run that one again, else what failed</dd><dt>f</dt><dd>only what failed</dd><dt>/</dt><dd>search</dd></dl><label><input type="checkbox" id="use-keys" checked> Use these keys</label></details>
</div></section>
<p class="sr" role="status" id="announcement"></p>`

const shownPart =
  '<p class="acts"><button type="button" data-shown hidden>Run the <b id="run-count"></b> shown</button></p>'

function requirementList(board: Board): string {
  const report = board.report()
  const groups = byOperation(report).map(({ operation, results }) => {
    const rows = results.map(({ id }) => rowMarkup(board.rows.get(id)!, report))
    return `<section class="op">${operationPart(board, operation)[operation]}\n${rows.join('\n')}\n</section>`
  })
  return `<section aria-labelledby="requirements" id="list"><h2 id="requirements" tabindex="-1">Requirements <small>${report.requirements.length}</small></h2>\n${toolbar(report)}\n${shownPart}\n${groups.join('\n')}</section>`
}

/** The few signs that a paragraph of readings.md has: code, bold, emphasis; a link keeps its words. */
export function paragraphMarkup(markdown: string): string {
  const text = htmlText(markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('\n', ' '))
  const markup = text
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith('`') ? code(part) : emphasis(part)))
  return `<p>${markup.join('')}</p>`
}

const code = (part: string): string => `<code>${part.slice(1, -1)}</code>`

function emphasis(part: string): string {
  return part
    .replaceAll(/\*\*([^*]+)\*\*/g, '<b>$1</b>')
    .replaceAll(/\b_([^_]+)_\b/g, '<em>$1</em>')
}

const waiting: Mark = { sign: '·', word: 'Waiting', tone: 'w' }

const failureShare = 48 * 1024

const markOf = ({ isWaiting, result }: Row, report: Report): Mark =>
  isWaiting ? waiting : kindsOf(report)[kindOf(result)]

export interface Surroundings {
  readonly targetFile: string | undefined
  readonly isWholeRun: boolean
  readonly changes: Changes | undefined
}

/** The parts of the page that exist once, by the id of their element. */
export function onceParts(
  board: Board,
  { changes, isWholeRun, targetFile }: Surroundings,
): Record<string, string> {
  const report = board.report()
  const rows = [...board.rows.values()]
  const known = rows.filter(({ isWaiting }) => !isWaiting).map(({ result }) => result)
  const counted = { ...report, summary: summarize(known, report.run.tpe) }
  const waitingOf = (level: string): number =>
    rows.filter((row) => row.isWaiting && row.result.level === level).length
  const left = { must: waitingOf('must'), should: waitingOf('should') }
  return {
    verdict: `<div id="verdict">${isWholeRun ? judging : verdictBlock(report) + nextBlock(report, { hasButtons: true })}</div>`,
    map: `<div id="map">${operationsSection({ ...report, requirements: known })}</div>`,
    causes: `<div id="causes">${likelyList({ ...report, requirements: known })}</div>`,
    counts: `<div id="counts">${countCards(counted, left)}</div>`,
    changes: `<div id="changes">${changes ? changesMarkup(changes) : ''}</div>`,
    failed: `<div id="failed">${failureList({ ...report, requirements: known })}</div>`,
    'declare-next': `<div id="declare-next">${stepList({ ...report, requirements: known }, targetFile === undefined ? undefined : adding(targetFile))}</div>`,
    details: `<div id="details">${runDetails(report)}</div>`,
  }
}

/** Part of a target file as a text that can be filled in and added. */
const adding =
  (path: string) =>
  (json: string): string =>
    `<textarea id="part" aria-label="Part of the target file" rows="18" spellcheck="false">\n${htmlText(json)}</textarea><p class="acts"><button type="button" data-add="part">Add to ${htmlText(path)}</button> <span id="added" role="status"></span></p>`

const judging =
  '<div class="verdict n"><span class="seal" aria-hidden="true">…</span><div><h2 class="word">Judging</h2><p>The verdict appears here when the run has ended.</p></div></div>'

export function rowParts(row: Row, report: Report): Record<string, string> {
  const { result } = row
  return {
    [result.id]: rowMarkup(row, report),
    [`cell:${result.id}`]: matrixCell(result, markOf(row, report)),
  }
}

export function rowMarkup(row: Row, report: Report): string {
  const { failures, id, statement } = row.result
  const does = failures.length > 0 ? 'Judge again' : 'Judge this one'
  const button = `<button type="button" data-run="${htmlAttribute(id)}">${does}<span class="sr">: ${htmlText(id)}</span></button>`
  const title = `<p class="title"><span class="mono">${htmlText(id)}</span><span class="ask">${htmlText(statement)}</span></p>`
  const lead = `${title}<p class="acts">${button}</p>${readingMarkup(id)}`
  const exchanges = `<div class="sent" data-sent="${htmlAttribute(id)}"></div>`
  return requirement(row.result, {
    report,
    failureShare,
    exchanges,
    mark: markOf(row, report),
    lead,
    note: changeMarkup(row),
  })
}

function changeMarkup({ before, isWaiting, result: { outcome } }: Row): string {
  if (isWaiting || before === undefined) return ''
  if (before !== outcome)
    return `<span class="tag change">was ${outcomes[before].word.toLowerCase()}</span> `
  return outcome === 'failed' ? '<span class="tag change">still failed</span> ' : ''
}

/** The heading of an operation, which counts what is known. */
export function operationPart(board: Board, operation: string): Record<string, string> {
  const rows = [...board.rows.values()].filter(
    ({ isWaiting, result }) => !isWaiting && result.operation === operation,
  )
  const group = { operation, results: rows.map(({ result }) => result) }
  return { [operation]: operationHead(group, board.report()) }
}

function readingMarkup(id: string): string {
  const paragraphs = readingsOf(id).map(({ text }) => paragraphMarkup(text))
  if (paragraphs.length === 0) return ''
  return `<details class="reading"><summary>How the interface is read here</summary>${paragraphs.join('')}</details>`
}

function changesMarkup({ lost, newlyFailed, newlyPassed, stillFailed }: Changes): string {
  const lines = [
    ...idLine('Newly failed', 'f', newlyFailed),
    ...idLine('Newly passed', 'p', newlyPassed),
    ...idLine('Failed before, not judged now', 'm', lost),
    ...(stillFailed > 0 ? [`<dt>Still failed</dt><dd>${stillFailed}</dd>`] : []),
  ]
  const list =
    lines.length > 0
      ? `<dl class="run">${lines.join('')}</dl>`
      : '<p class="run">Nothing changed.</p>'
  return `${sectionHead('since', 'Since the run before')}${list}</section>`
}

function idLine(title: string, tone: string, ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const links = ids.map(idLink).join(', ')
  return [`<dt class="${tone}">${title} <b>${ids.length}</b></dt><dd>${links}</dd>`]
}
