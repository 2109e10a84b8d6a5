import { indexJson } from './index-json.ts'
import { type ReadOptions, readRegister, type Registered } from './read-folder.ts'
import { servicePage } from './service-page.ts'
import { certificateName, type Service, servicesOf } from './services.ts'
import { type Site, writeSite } from './write-site.ts'
import { makeBadge } from 'badge-maker'
import { standingOf, markup, type Markup, page, standingMark, validity } from './page.ts'
import { operationCount } from '../operations.ts'

const colors = { good: 'brightgreen', fair: 'yellow', bad: 'red', none: 'lightgrey' } as const

/** An SVG badge with the status of the service; its description says until when it is valid. */
function registerBadge(current: Registered): string {
  const { tone, words } = standingOf(current)
  const badge = makeBadge({ label: 'conformance', message: words, color: colors[tone], style: 'flat' })
  if (current.status !== 'valid') return badge
  const until = current.statement.predicate.expiresAt.slice(0, 10)
  return badge.replace('</title>', `</title><desc>valid until ${until}</desc>`)
}

/**
 * Builds the site of the certified services from a folder of certificates, and gives the services. Throws UserError if a
 * certificate does not verify, and writes nothing then.
 */
export function buildRegister(folder: string, out: string, options: ReadOptions): readonly Service[] {
  const services = servicesOf(readRegister(folder, options))
  writeSite(out, siteOf(services, options.now), folder)
  return services
}

function siteOf(services: readonly Service[], now: Date): Site {
  const site = new Map<string, string | Uint8Array>([['index.html', listPage(services, now)]])
  for (const service of services) {
    const folder = `services/${service.slug}`
    site.set(`${folder}/index.html`, servicePage(service, now))
    site.set(`${folder}/badge.svg`, registerBadge(service.current))
    for (const one of service.certificates) site.set(`${folder}/${certificateName(one)}`, one.bytes)
  }
  return site.set('index.json', indexJson(services, [...site.keys(), 'index.json'], now))
}

/** The front page: every service with verdict, operations and validity. */
function listPage(services: readonly Service[], now: Date): string {
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
