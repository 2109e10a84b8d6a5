import { idLink, sectionHead } from './assets.ts'
import { count, type Counts, type Report } from '../../harness/report/index.ts'
import { htmlAttribute, htmlText, capital, compactJson, duration, outcomes } from '../text.ts'
import {
  leftOutSentence,
  selectedSummary,
  total,
  byState,
  mapSentence,
  shownMap,
  states,
  exitLine,
  createdObjects,
  interruptedNote,
  runNotes,
  seedLine,
  isSaidByExit,
  standingOf,
  type Tone,
} from '../view/standing.ts'
import { nextSteps } from '../view/next-steps.ts'

export function masthead(report: Report): string {
  const { run, suite, target } = report
  const leftOut = leftOutSentence(report)
  const first = interruptedNote(report)
  const notes = [
    ...(run.hints ?? []),
    ...runNotes(report),
    ...(leftOut === undefined ? [] : [`left out: ${leftOut}`]),
  ].map((note) => `<li>${htmlText(note)}</li>`)
  const { must, should } = selectedSummary(report)
  return `<header class="top">
<p class="kind">Conformance report <span>${htmlText(suite.name)} ${htmlText(suite.version)}, interface version ${htmlText(suite.specVersion)}</span></p>
<h1>${htmlText(target.name)}</h1>
<p class="where"><span class="mono">${htmlText(target.baseUrl)}</span> <time datetime="${htmlAttribute(run.startedAt)}">${htmlText(day(run.startedAt))}</time></p>
${first === undefined ? '' : `<p class="interrupted"><b>${htmlText(sentence(first))}</b></p>\n`}${verdictBlock(report)}
${nextBlock(report)}${notes.length > 0 ? `<ul class="notes">${notes.join('')}</ul>\n` : ''}${operationsSection(report)}<div class="counts">
${levelCard('Required', 'decides the verdict', must)}
${levelCard('Recommended', run.strict ? 'counts like required (--strict)' : 'reported, does not decide', should)}
</div>
</header>
`
}

const JSON_WIDTH = 64

const tones = { good: 'p', warning: 'm', bad: 'f' } as const satisfies Record<Tone, string>

function verdictBlock(report: Report): string {
  const { meaning, sign, tone, word } = standingOf(report)
  const { because, code } = report.exit
  const isMeant = !isSaidByExit(report)
  // The verdict may give the reason already.
  const exit =
    isMeant && meaning.startsWith(because) ? `Exit code ${code}.` : sentence(exitLine(report))
  return `<div class="verdict ${tones[tone]}"><span class="seal" aria-hidden="true">${sign}</span><div><h2 class="word">${word}</h2>${isMeant ? `<p>${htmlText(sentence(meaning))}</p>` : ''}<p class="exit">${htmlText(exit)}</p></div></div>`
}

function nextBlock(report: Report): string {
  const steps = nextSteps(report).map(({ command, paste, text }) => {
    const copied = command ?? (paste === undefined ? '' : compactJson(paste, JSON_WIDTH))
    return `<li><p>${htmlText(text)}</p>${copied && `<pre class="c" tabindex="0">${htmlText(copied)}</pre>`}</li>`
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
  const list = rows.map(([name, value]) => `<dt>${name}</dt><dd>${htmlText(value)}</dd>`).join('')
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
