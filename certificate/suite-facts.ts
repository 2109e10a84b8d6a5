import { requirementsDigest, requirementsText, specDigest } from '../catalogue/digests.ts'
import { suiteVersion } from '../harness/report/suite-version.ts'
import { suiteDigest } from './suite-digest.ts'
import type { Digest } from './statement.ts'

/** What a certificate needs to know of a requirement. */
export interface KnownRequirement {
  readonly id: string
  readonly operation: string
  readonly level: string
}

/** An installation of the suite, as far as a certificate speaks of it. */
export interface SuiteFacts {
  readonly version: string
  /** Of its files. */
  readonly digest: Digest
  readonly specDigest: string
  readonly requirementsDigest: string
  /** The catalogue as canonical JSON, whose digest `requirementsDigest` is. */
  readonly requirementsText: string
}

/** This installation. */
export function suiteFacts(): SuiteFacts {
  return {
    version: suiteVersion(),
    digest: suiteDigest(),
    specDigest,
    requirementsDigest: requirementsDigest(),
    requirementsText: requirementsText(),
  }
}

/** The requirements of a catalogue's canonical JSON; null if it is not a catalogue. */
export function requirementsIn(text: string): KnownRequirement[] | null {
  try {
    const value = JSON.parse(text) as KnownRequirement[]
    const isOne = ({ id, operation, level }: KnownRequirement) =>
      [id, operation, level].every((member) => typeof member === 'string')
    return Array.isArray(value) && value.every(isOne) ? value : null
  } catch {
    return null
  }
}
