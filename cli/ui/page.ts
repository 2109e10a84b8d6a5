import { readFileSync } from 'node:fs'
import { packageFile } from '../../schemas/package-file.ts'
import { htmlText } from '../../reporters/escape/html.ts'
import { policyFor, script as reportScript, style as reportStyle } from '../../reporters/html/assets.ts'
import { matrix } from '../../reporters/html/matrix.ts'
import { toolbar } from '../../reporters/html/requirement.ts'
import { byOperation } from '../../reporters/view/groups.ts'
import type { Board } from './board.ts'
import { markOf, marks, onceParts, operationPart, rowMarkup, type Surroundings } from './parts.ts'

const read = (name: string): string => readFileSync(packageFile(`cli/ui/${name}`), 'utf8').trim()

/** Those of the HTML report, and what makes it live. */
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
${parts.verdict}${parts.causes}${parts.counts}${parts.changes}${parts.failed}${parts['declare-next']}
<a class="skip" href="#requirements">Skip the matrix</a>
${matrix(report, { marks, markOf: ({ id }) => markOf(board.rows.get(id)!) })}
${requirementList(board)}
${parts.details}</main>
<script>${script}</script></body></html>
`
}

const controls = `<section class="controls" aria-label="Run"><div>
<button type="button" class="main" data-do="all">Run all</button>
<button type="button" data-do="failed">Run failed <b id="failed-count"></b></button>
<button type="button" data-do="stop">Stop</button>
<p id="now"></p><progress id="progress" aria-label="Requirements judged" hidden></progress>
<details class="keys"><summary>Keys</summary><dl><dt>j, k</dt><dd>next and previous requirement</dd><dt>r</dt><dd>run that one again, else what failed</dd><dt>f</dt><dd>only what failed</dd><dt>/</dt><dd>search</dd></dl><label><input type="checkbox" id="use-keys" checked> Use these keys</label></details>
</div></section>
<p class="sr" role="status" id="said"></p>`

/** What can be done with what a filter shows. */
const shownPart =
  '<p class="acts"><button type="button" data-shown hidden>Run the <b id="run-count"></b> shown</button></p>'

function requirementList(board: Board): string {
  const report = board.report()
  const groups = byOperation(report).map(({ operation, results }) => {
    const rows = results.map(({ id }) => rowMarkup(board.rows.get(id)!, report))
    return `<section class="op">${operationPart(board, operation)[operation]}\n${rows.join('\n')}\n</section>`
  })
  return `<section aria-labelledby="requirements" id="list"><h2 id="requirements" tabindex="-1">Requirements <small>${report.requirements.length}</small></h2>\n${toolbar()}\n${shownPart}\n${groups.join('\n')}</section>`
}
