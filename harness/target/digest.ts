import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { mapKeys } from './map-keys.ts'
import { plainData } from './plain-data.ts'
import type { TargetFile } from './target-file.ts'

/** The canonical JSON (RFC 8785) of the target file without its keys and Authorization headers. */
export function canonicalTarget(file: TargetFile): string {
  const { keys: _, ...rest } = mapKeys(plainData(file, () => undefined) as TargetFile, () => undefined)
  return canonicalize(rest) ?? ''
}

/** `sha256:...` over that JSON. */
export function targetDigest(file: TargetFile): string {
  return `sha256:${createHash('sha256').update(canonicalTarget(file)).digest('hex')}`
}
