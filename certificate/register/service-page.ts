import { countsText } from '../../reporters/view/counts.ts'
import { operationCount } from '../operations.ts'
import type { Excluded, Predicate } from '../statement.ts'
import { markup, type Markup, day, page, standingMark, validity, standingOf } from './page.ts'
import type { Registered } from './read-folder.ts'
import { certificateName, type Service } from './services.ts'

/** As many ids are named beside a reason. */
const MOST_IDS = 5

/** The page of a service: its status, what was judged and what was not, who signed, and all its certificates. */
export function servicePage({ name, uri, current, certificates }: Service, now: Date): string {
  const { tone, sign, words } = standingOf(current)
  const { predicate } = current.statement
  const partial = predicate.partial.map((reason) => markup`<li>Partial: ${reason}</li>`)
  const body = markup`<nav class="crumb"><a href="../../index.html">Certified services</a></nav>
<header><h1>${name}</h1><p class="mono soft">${uri}</p>
<div class="verdict ${tone}"><p class="word"><span aria-hidden="true">${sign}</span> ${words}</p><p>${validity(current)}</p>${
    partial.length > 0 ? markup`<ul class="list">${partial}</ul>` : ''
  }</div></header>
<main>
${operationsPart(predicate)}
${excludedPart('Not exercised', predicate.notExercised)}
${excludedPart('Not applicable', predicate.notApplicable)}
${runPart(predicate)}
<section><h2>Certificates</h2><ul class="services">${certificates.map(certificate)}</ul></section>
</main>`
  return page(`${name}: ${words}`, body, now)
}

function operationsPart({ operations }: Predicate): Markup {
  const unserved = operations.notServed.map(({ operation, answered }) =>
    answered === null ? operation : `${operation} (answered ${answered})`,
  )
  const lists: [string, readonly string[]][] = [
    [`Judged, ${operations.judged.length} of ${operationCount}`, operations.judged],
    ['Declared not served', unserved],
    ['Declared removed', operations.removed],
    ['Not exercised at all', operations.notExercised],
  ]
  return definitions(
    'Operations',
    lists.filter(([, names]) => names.length > 0).map(([word, names]) => [word, names.join(', ')]),
  )
}

function excludedPart(title: string, rows: readonly Excluded[]): Markup | '' {
  const ids = new Map<string, string[]>()
  for (const { id, reason } of rows) ids.set(reason, [...(ids.get(reason) ?? []), id])
  if (ids.size === 0) return ''
  const items = [...ids].map(([reason, of]) => {
    const more = of.length > MOST_IDS ? ` and ${of.length - MOST_IDS} more` : ''
    return markup`<li>${reason}: <span class="soft">${of.slice(0, MOST_IDS).join(', ')}${more}</span></li>`
  })
  return markup`<section><h2>${title}: ${rows.length}</h2><ul class="list">${items}</ul></section>`
}

function runPart({ run, suite, spec, summary, verdicts }: Predicate): Markup {
  return definitions('The run', [
    ['Judged on', day(run.startedAt)],
    ['By', `${suite.name} ${suite.version}, the interface in version ${spec.version}`],
    ['Must', countsText(summary.must)],
    ['Should', countsText(summary.should)],
    ['Mode', run.tpe === 'exact' ? 'exact names' : `family names; in it the verdict is ${verdicts.family}`],
    ['Runs', `${run.runs} for each generated refusal, ${run.requests} requests, seed ${run.seed}`],
  ])
}

function definitions(title: string, rows: readonly (readonly [string, string | Markup])[]): Markup {
  const items = rows.map(([word, value]) => markup`<dt>${word}</dt><dd>${value}</dd>`)
  return markup`<section><h2>${title}</h2><dl>${items}</dl></section>`
}

function certificate(one: Registered): Markup {
  const file = certificateName(one)
  const signers = one.signedBy.map(
    ({ id, name = 'a trusted key' }) => markup`<p class="soft">Signed by ${name}, <span class="mono">${id}</span></p>`,
  )
  return markup`
<li class="card"><p><a href="${file}">Certificate of the run on ${one.statement.predicate.run.startedAt.slice(0, 10)}</a></p>
${standingMark(one)}
<div class="facts"><p>${validity(one)}</p>${signers}<p>To check it:</p><pre>conform verify ${file} --key-id ${one.signedBy[0]?.id ?? ''}</pre></div></li>`
}
