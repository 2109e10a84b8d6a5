import { operationCount } from '../operations.ts'
import { markup, type Markup } from './markup.ts'
import { page, standingMark, validity } from './page.ts'
import type { Service } from './services.ts'

/** The front page: every service with verdict, operations and validity. */
export function listPage(services: readonly Service[], now: Date): string {
  const valid = services.filter(({ current }) => current.status === 'valid').length
  const none = markup`<p>There is no certificate yet.</p>`
  const list = services.length === 0 ? none : markup`<ul class="services">${services.map(card)}</ul>`
  const body = markup`<header><h1>Certified services</h1>
<p class="soft">${services.length} services, ${valid} with a certificate that is valid. Verdicts are by exact names. For machines: <a href="index.json">index.json</a></p></header>
<main>${list}</main>`
  return page('Certified services', body, now)
}

function card({ name, uri, slug, current }: Service): Markup {
  const { operations } = current.statement.predicate
  const unserved = operations.notServed.map(({ operation }) => operation).join(', ')
  const judged = `${operations.judged.length} of ${operationCount} operations judged`
  return markup`
<li class="card"><div><h2><a href="services/${slug}/index.html">${name}</a></h2><p class="mono soft">${uri}</p></div>
${standingMark(current)}
<p class="facts">${judged}${unserved === '' ? '' : `; declared not served: ${unserved}`}; ${validity(current)}</p></li>`
}
