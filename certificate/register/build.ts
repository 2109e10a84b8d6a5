import { makeBadge } from 'badge-maker'
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { makeFolder } from '../../harness/make-folder.ts'
import { unwritable, UserError } from '../../harness/user-error.ts'
import { json } from '../../reporters/escape.ts'
import { nameMarks } from '../../reporters/name-marks.ts'
import { REGISTER_FORMAT } from '../verify-file.ts'
import { operationCount } from '../statement.ts'
import type { Markup } from './page.ts'
import {
  judgedBy,
  markup,
  marksPart,
  page,
  standingMark,
  standingOf,
  validity,
  servicePage,
} from './page.ts'
import type { ReadOptions, Register, Registered, Service } from './read-folder.ts'
import { bundleName, certificateName, readRegister } from './read-folder.ts'

const colors = { good: 'brightgreen', fair: 'yellow', bad: 'red', none: 'lightgrey' } as const

/** An SVG badge with the status of the service; its description says until when it is valid. */
function registerBadge(current: Registered): string {
  const { tone, words } = standingOf(current)
  const badge = makeBadge({
    label: 'conformance',
    message: words,
    color: colors[tone],
    style: 'flat',
  })
  if (current.status !== 'valid') return badge
  const until = current.statement.predicate.expiresAt.slice(0, 10)
  return badge.replace('</title>', `</title><desc>valid until ${until}</desc>`)
}

/**
 * Builds the site of the certified services from a folder of certificates, and gives the services. Throws UserError if a
 * certificate does not verify, and writes nothing then.
 */
export function buildRegister(
  folder: string,
  out: string,
  options: ReadOptions,
): readonly Service[] {
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

function listPage(services: readonly Service[], now: Date): string {
  const valid = services.filter(({ current }) => current.status === 'valid').length
  const none = markup`<p>There is no certificate yet.</p>`
  const list =
    services.length === 0 ? none : markup`<ul class="services">${services.map(card)}</ul>`
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
function indexJson(
  { services, revocations }: Register,
  files: readonly string[],
  now: Date,
): string {
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

function standing({ status, revocation, signedBy, statement: { predicate } }: Registered) {
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
    },
    operations: { ...operations, count: operations.judged.length, of: operationCount },
    judgedAt: run.startedAt,
    issuedAt,
    expiresAt,
    signedBy,
  }
}

/** The files of a site, by path below its folder. */
export type Site = ReadonlyMap<string, string | Uint8Array>

/**
 * Puts the site in the place of the folder, whole or not at all. Throws UserError if the folder is one with, in or around
 * that of the certificates, or holds anything but a register that was built before.
 */
export function writeSite(out: string, site: Site, certificates: string): void {
  const [place, input] = [realPlace(out), realPlace(certificates)]
  if (isWithin(place, input) || isWithin(input, place)) {
    throw new UserError(
      `--out ${out}: lies in or around the folder of the certificates; give another folder`,
    )
  }
  const strange = strangeFile(out)
  if (strange !== undefined) {
    throw new UserError(
      `--out ${out}: holds ${strange}, which is not part of a register; give an empty folder`,
    )
  }
  const beside = join(dirname(place), `.${basename(place)}.${process.pid}`)
  try {
    for (const [path, text] of site) {
      makeFolder(dirname(join(`${beside}.new`, path)))
      writeFileSync(join(`${beside}.new`, path), text, { flag: 'wx' })
    }
    if (existsSync(place)) renameSync(place, `${beside}.old`)
    renameSync(`${beside}.new`, place)
  } catch (error) {
    rmSync(`${beside}.new`, { recursive: true, force: true })
    if (existsSync(`${beside}.old`) && !existsSync(place)) renameSync(`${beside}.old`, place)
    throw unwritable(`--out ${out}`, error)
  }
  rmSync(`${beside}.old`, { recursive: true, force: true })
}

function strangeFile(out: string): string | undefined {
  if (!existsSync(out)) return undefined
  const own = new Set(filesBefore(join(out, 'index.json')))
  try {
    return readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(out, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .find((path) => !own.has(path))
  } catch (error) {
    throw unwritable(`--out ${out}`, error)
  }
}

function filesBefore(path: string): string[] {
  try {
    const { format, files } = JSON.parse(readFileSync(path, 'utf8')) as {
      format: string
      files: string[]
    }
    return format === REGISTER_FORMAT && Array.isArray(files) ? files : []
  } catch {
    return []
  }
}

/** The path without links, of what is there and of what is not there yet. */
function realPlace(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  return dirname(whole) === whole ? whole : join(realPlace(dirname(whole)), basename(whole))
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
