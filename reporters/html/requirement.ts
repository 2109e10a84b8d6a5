import {
  type Failure,
  type RecordedRequest,
  type Report,
  type RequirementResult,
  count,
  reasonExpected,
  sections,
} from '../../harness/report/index.ts'
import { htmlAttribute, htmlText, shortened, visible, duration, kinds, levels } from '../text.ts'
import { evidence } from '../view/evidence.ts'
import { storyMarkup, pre, requestText, responseText } from './exchange.ts'
import { isOperationId, operation as operationOf } from '../../catalogue/operations.ts'
import { kindOf, kindsIn, type OperationGroup } from '../view/standing.ts'

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
    markup = one(failure, limit)
    if (Buffer.byteLength(markup) <= share) break
  }
  return markup
}

function one(failure: Failure, limit: number): string {
  let [facts, commands] = ['', '']
  for (const [label, text] of evidence(failure, limit)) {
    const row = (shown: string): string => `<dt>${words[label]}</dt><dd>${shown}</dd>`
    if (label !== 'again' && label !== 'curl') facts += row(htmlText(text))
    else if (text.length <= limit * 4) commands += row(`<pre class="c">${htmlText(text)}</pre>`)
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
      : `<span class="why">${htmlText(shortened(result.reason, 500))}</span>`
  const expected = reasonExpected(report, result.id)
  const known =
    expected === undefined || result.outcome !== 'failed'
      ? ''
      : `<p class="facts">Expected by the baseline: ${htmlText(expected)}</p>`
  return `<details class="r ${tone}" id="${htmlAttribute(visible(result.id))}" data-o="${kindOf(result)}" data-l="${result.level}"${result.outcome === 'failed' ? ' open' : ''}><summary><span class="sign">${sign}<span class="sr"> ${word}</span></span><span class="what"><span class="mono">${htmlText(result.id)}</span><span class="ask">${htmlText(result.statement)}</span>${why}</span><span class="meta"><span class="tag">${levels[result.level]}</span> ${htmlText(sections(result.section))}</span></summary><div class="in">${known}${failureEvidence(result.failures, failureShare)}${ranOrNot}${exchanges === '' ? '' : `<p class="lead">Exchanges</p>${exchanges}`}</div></details>`
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
  const path = line ? `<span class="path mono">${line.method} ${htmlText(line.path)}</span>` : ''
  const tally = Object.entries(kinds).map(([kind, { sign, tone, word }]) => {
    const number = operationGroup.results.filter((result) => kindOf(result) === kind).length
    return number === 0
      ? ''
      : `<span class="${tone}"><i aria-hidden="true">${sign}</i>${number}<span class="sr"> ${word.toLowerCase()}</span></span>`
  })
  return `<h3 id="${htmlAttribute(visible(operationGroup.operation))}"><span class="mono">${htmlText(operationGroup.operation)}</span> ${path}<span class="tally">${tally.join('')}</span></h3>`
}
