import type { Report, RequirementResult } from '../../harness/report/model.ts'
import { htmlAttribute, htmlText } from '../escape/html.ts'
import { visible } from '../escape/visible.ts'
import { count } from '../view/counts.ts'
import { duration } from '../view/duration.ts'
import { sections } from '../view/sections.ts'
import { shortened } from '../view/shortened.ts'
import { failureEvidence } from './evidence.ts'
import { type Mark, outcomes } from './words.ts'

const controls = {
  granted: 'the same request without the fault was granted',
  refused: 'the same request without the fault was refused too',
  none: 'none was sent',
} as const

export interface RequirementContext {
  readonly report: Report
  /** Markup of the requirement's exchanges; empty if none is kept. */
  readonly exchanges: string
  /** Bytes of markup that each failure may take. */
  readonly failureShare: number
  /** How it is marked; by its outcome if not given. */
  readonly mark?: Mark
  /** Markup that comes before everything else. */
  readonly lead?: string
}

/** A requirement, folded unless it failed: statement, section, what came of it, its exchanges. */
export function requirement(
  result: RequirementResult,
  { exchanges, failureShare, report, mark = outcomes[result.outcome], lead = '' }: RequirementContext,
): string {
  const { sign, tone, word } = mark
  const ranOrNot =
    result.cases > 0
      ? `<p class="facts">${count(result.cases, 'case')} in ${duration(result.durationMs)}. Control: ${controls[result.control]}.</p>`
      : ''
  const why = result.reason === undefined ? '' : `<span class="why">${htmlText(shortened(result.reason, 500))}</span>`
  const again =
    result.failures.length > 0 || result.cases === 0
      ? ''
      : `<p class="lead">Run again</p><pre class="c">${htmlText(rerun(report, result))}</pre>`
  return `<details class="r ${tone}" id="${htmlAttribute(visible(result.id))}" data-o="${result.outcome}" data-l="${result.level}"${result.outcome === 'failed' ? ' open' : ''}><summary><span class="sign">${sign}<span class="sr"> ${word}</span></span><span class="what"><span class="mono">${htmlText(result.id)}</span><span class="ask">${htmlText(result.statement)}</span>${why}</span><span class="meta"><span class="tag">${result.level}</span> ${htmlText(sections(result.section))}</span></summary><div class="in">${lead}${failureEvidence(result.failures, failureShare)}${ranOrNot}${again}${exchanges === '' ? '' : `<p class="lead">Exchanges</p>${exchanges}`}</div></details>`
}

/** The command that judges this requirement again with the same inputs; key and target file are the reader's to add. */
function rerun({ run, target }: Report, { id }: RequirementResult): string {
  return `conform '${target.baseUrl.replaceAll("'", "'\\''")}' --only ${id} --seed ${run.seed}`
}
