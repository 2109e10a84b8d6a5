import { makeBadge } from 'badge-maker'
import { json } from '../../reporters/escape/json.ts'
import { nameMarks } from '../../reporters/escape/name-marks.ts'
import { operationCount } from '../make-statement.ts'
import { REGISTER_FORMAT } from '../revocations.ts'
import { judgedBy, markup, type Markup, marksPart, page, standingMark, standingOf, validity } from './page.ts'
import {
  bundleName,
  certificateName,
  type ReadOptions,
  readRegister,
  type Register,
  type Registered,
  type Service,
} from './read-folder.ts'
import { servicePage } from './service-page.ts'
import { type Site, writeSite } from './write-site.ts'

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
  const register = readRegister(folder, options)
  writeSite(out, siteOf(register, options.now), folder)
  return register.services
}

function siteOf(register: Register, now: Date): Site {
  const { services } = register
  const site = new Map<string, string | Uint8Array>([['index.html', listPage(services, now)]])
  for (const service of services) {
    const folder = `services/${service.slug}`
    const badge = registerBadge(service.current)
    site.set(`${folder}/index.html`, servicePage(service, badge, now))
    site.set(`${folder}/badge.svg`, badge)
    for (const one of service.certificates) {
      site.set(`${folder}/${certificateName(one)}`, one.bytes)
      if (one.bundle) site.set(`${folder}/${bundleName(one)}`, one.bundle)
    }
  }
  return site.set('index.json', indexJson(register, [...site.keys(), 'index.json'], now))
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
<li class="card"><div><h2><a href="services/${slug}/index.html">${name}</a></h2><p class="mono soft">${uri}</p>${marksPart(name)}</div>
${standingMark(current)}
<p class="facts">${judged}${unserved === '' ? '' : `; declared not served: ${unserved}`}; ${judgedBy(current)}; ${validity(current)}</p></li>`
}

/** The register for machines. `files` are all that belong to it, so that it can be built again in the same place. */
function indexJson({ services, revocations }: Register, files: readonly string[], now: Date): string {
  const listed = services.map((service) => ({
    name: service.name,
    uri: service.uri,
    nameMarks: nameMarks(service.name),
    page: `services/${service.slug}/`,
    badge: `services/${service.slug}/badge.svg`,
    ...standing(service.current),
    certificates: service.certificates.map((one) => ({
      id: one.id,
      file: `services/${service.slug}/${certificateName(one)}`,
      bundle: one.bundle ? `services/${service.slug}/${bundleName(one)}` : null,
      ...standing(one),
    })),
  }))
  const register = {
    format: REGISTER_FORMAT,
    builtAt: now.toISOString(),
    services: listed,
    // All of them, those of keys and of certificates that are listed no more too: `verify --revoked` goes by this list.
    revocations: revocations.map(({ id, day, reason }) => ({ id, day, reason })),
    files: [...files].sort(),
  }
  return `${json(register, 2)}\n`
}

function standing({ isForeign, status, revocation, signedBy, statement: { predicate } }: Registered) {
  const { verdicts, partial, operations, requirements, run, suite, issuedAt, expiresAt } = predicate
  return {
    status,
    revoked: revocation ? { day: revocation.day, reason: revocation.reason } : null,
    verdict: verdicts.exact,
    tpe: run.tpe,
    partial,
    suite: { name: suite.name, version: suite.version },
    requirements: {
      count: requirements.count,
      digest: `sha256:${requirements.digest.sha256}`,
      isPublished: !isForeign,
    },
    operations: { ...operations, count: operations.judged.length, of: operationCount },
    judgedAt: run.startedAt,
    issuedAt,
    expiresAt,
    signedBy,
  }
}
