import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, posix, resolve } from 'node:path'
import {
  catalogue,
  requirementsDigest,
  requirementsText,
  specDigest,
  specVersion,
} from '../catalogue/catalogue.ts'
import type { Requirement } from '../catalogue/requirement.ts'
import { type Report, suiteVersion } from '../harness/report/index.ts'
import { UserError } from '../harness/user-error.ts'
import { terminalText } from '../reporters/escape.ts'
import { packageFile } from '../schemas/package-file.ts'
import { reasonsIn } from './statement.ts'
import type { Digest, Predicate } from './statement-schema.ts'

/** The folders that make up the suite as it is shipped and run. */
const FOLDERS = ['bin', 'dist']
const TYPES = 'dist/types'

/**
 * SHA-256 over the suite's own files: over the lines `<sha256 of the file>  <path>` in the order of the paths, package.json
 * included, as `sha256sum` prints them. Two installations of one version have the same. If the suite is one file, of that.
 */
export function suiteDigest(root = resolve(packageFile('.'))): Digest {
  if (statSync(root).isFile())
    return { sha256: hex(`${hex(readFileSync(root))}  ${basename(root)}\n`) }
  const files = ['package.json', ...FOLDERS.flatMap((folder) => filesIn(root, folder))].sort()
  return {
    sha256: hex(files.map((file) => `${hex(readFileSync(join(root, file)))}  ${file}\n`).join('')),
  }
}

function filesIn(root: string, folder: string): string[] {
  if (folder === TYPES || !existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(root, path)
    return entry.isFile() ? [path] : []
  })
}

function hex(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Requirements and text of the interface by which a version of the suite judges. */
export interface SuiteVersion {
  readonly version: string
  readonly specVersion: string
  readonly specDigest: string
  readonly requirementsDigest: string
  readonly requirements: number
}

/** Facts of a requirement that a certificate needs. */
export type KnownRequirement = Omit<Requirement, 'effect'>

/** An installation of the suite, as far as a certificate speaks of it. */
export interface SuiteFacts extends SuiteVersion {
  readonly digest: Digest
  /** The catalogue as canonical JSON, whose digest `requirementsDigest` is. */
  readonly requirementsText: string
  /** All versions that were published when this one was made; `npm version` adds the new one. */
  readonly published: readonly SuiteVersion[]
}

/** This installation. */
export function suiteFacts(): SuiteFacts {
  return {
    ...ownVersion(),
    digest: suiteDigest(),
    requirementsText: requirementsText(),
    published: JSON.parse(
      readFileSync(packageFile('certificate/published-versions.json'), 'utf8'),
    ) as SuiteVersion[],
  }
}

/** Facts of this version that are published when it is released. */
export function ownVersion(): SuiteVersion {
  const version = suiteVersion()
  const requirements = catalogue.length
  return {
    version,
    specVersion,
    specDigest,
    requirementsDigest: requirementsDigest(),
    requirements,
  }
}

export function claimedByReport({ suite, requirements }: Report): SuiteVersion {
  const { version, specVersion, specDigest, requirementsDigest } = suite
  return { version, specVersion, specDigest, requirementsDigest, requirements: requirements.length }
}

export function claimedByStatement({ suite, spec, requirements }: Predicate): SuiteVersion {
  const digest = (of: Digest) => `sha256:${of.sha256}`
  return {
    version: suite.version,
    specVersion: spec.version,
    specDigest: digest(spec.digest),
    requirementsDigest: digest(requirements.digest),
    requirements: requirements.count,
  }
}

/**
 * Whether a version of the suite has these requirements: this one, or one that was published before it. Anybody can make a
 * list of requirements, and give it a version and a digest.
 */
export function isPublished(claimed: SuiteVersion, own: SuiteFacts): boolean {
  const facts = [
    'version',
    'requirementsDigest',
    'requirements',
    'specDigest',
    'specVersion',
  ] as const
  return [own, ...own.published].some((known) =>
    facts.every((fact) => known[fact] === claimed[fact]),
  )
}

/** Why what was judged is that of another suite than the one that is to sign it; empty if it is its own. */
export function foreignReasons(claimed: SuiteVersion, own: SuiteFacts): string[] {
  const set = isPublished(claimed, own)
    ? 'its requirements are those of another version of the suite'
    : `its requirements are those of no version of the suite that ${own.version} knows`
  const isOtherText =
    claimed.specDigest !== own.specDigest || claimed.specVersion !== own.specVersion
  return reasonsIn([
    [
      claimed.version !== own.version,
      `version ${terminalText(claimed.version)} of the suite judged, and ${own.version} signs`,
    ],
    [claimed.requirementsDigest !== own.requirementsDigest, set],
    [isOtherText, 'it was made for another text of the interface than this version has'],
  ])
}

/**
 * The requirements that the report's `requirementsDigest` names: this version's own, or those of a text that has that digest.
 * Throws UserError if neither has it: whether the report holds all of them cannot be looked at.
 * @param name what a message calls the report
 * @param bytes the requirements of a bundle
 */
export function requirementsOf(
  { suite }: Report,
  name: string,
  own: SuiteFacts,
  bytes?: Uint8Array,
): readonly KnownRequirement[] {
  if (suite.requirementsDigest === own.requirementsDigest)
    return requirementsIn(own.requirementsText) ?? []
  const isNamed = bytes !== undefined && `sha256:${hex(bytes)}` === suite.requirementsDigest
  const known = isNamed ? requirementsIn(Buffer.from(bytes).toString('utf8')) : null
  // A version has one set of requirements: one that claims ours with another set is no other version.
  if (known !== null && suite.version !== own.version) return known
  throw new UserError(
    `${name}: its requirements (${suite.requirementsDigest}) are not those of version ${own.version}: ` +
      `whether all of them were judged can be told by version ${terminalText(suite.version)} only, or from a bundle`,
  )
}

/** The requirements of a catalogue's canonical JSON; null if it is not a catalogue. */
export function requirementsIn(text: string): KnownRequirement[] | null {
  try {
    const value = JSON.parse(text) as KnownRequirement[]
    const isOne = ({ id, operation, level, section, statement, needs }: KnownRequirement) =>
      [id, operation, level, section, statement].every((member) => typeof member === 'string') &&
      Array.isArray(needs)
    return Array.isArray(value) && value.every(isOne) ? value : null
  } catch {
    return null
  }
}
