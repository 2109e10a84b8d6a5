import type { Failure } from '../../harness/report/model.ts'
import { htmlText } from '../escape/html.ts'
import { count } from '../view/counts.ts'
import { evidence } from '../view/evidence.ts'
import { shortened } from '../view/shortened.ts'
import { requestText, responseText } from './body.ts'
import { pre } from './exchange.ts'

const words = {
  sent: 'Sent',
  expected: 'Expected',
  received: 'Received',
  note: 'Note',
  again: 'Run again',
  curl: 'Send again',
} as const

/** Bytes of a body and characters of a text that are shown: the most that keeps the markup within its share. */
const LIMITS = [16_384, 4096, 1024, 384, 128] as const
const MOST_FAILURES = 5

/** The failures of a requirement with all that shows them, each in about `share` bytes of markup. */
export function failureEvidence(failures: readonly Failure[], share: number): string {
  const shown = failures.slice(0, MOST_FAILURES).map((failure) => fitting(failure, share))
  const more = failures.length - shown.length
  if (more > 0) shown.push(`<p class="facts">and ${count(more, 'more failure')} in the JSON report</p>`)
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
  const lines = evidence(failure, limit).map(([label, text]) => {
    const isCommand = label === 'again' || label === 'curl'
    if (isCommand && text.length > limit * 4) return ''
    const shown = isCommand ? `<pre class="c">${htmlText(text)}</pre>` : htmlText(text)
    return `<dt>${words[label]}</dt><dd${label === 'received' ? ' class="got"' : ''}>${shown}</dd>`
  })
  const path = failure.path === undefined ? '' : `, path ${htmlText(shortened(failure.path, limit))}`
  return `<div class="evidence"><dl>${lines.join('')}<dt>Seed</dt><dd>${failure.seed}${path}</dd></dl>${exchange(failure, limit)}</div>`
}

function exchange({ exchange }: Failure, limit: number): string {
  if (!exchange) return ''
  const { request, response } = exchange
  const received = response ? responseText(response, limit) : 'No answer'
  return `<h4>Request</h4>${pre(requestText(request, limit))}<h4>Response</h4>${pre(received)}`
}
