import { expect, test } from 'vitest'
import {
  catalogue,
  published,
  requirementsDigest,
  specDigest,
  specVersion,
} from '../../catalogue/catalogue.ts'

test('digests are SHA-256 in hex, and the same each time', () => {
  expect(specVersion).toBe('1.0')
  expect(specDigest).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(requirementsDigest()).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(requirementsDigest()).toBe(requirementsDigest())
})

test('the digest of the requirements is of JSON: nothing of a row gets lost in it', () => {
  const requirements = catalogue.map(published)
  expect(JSON.parse(JSON.stringify(requirements))).toEqual(requirements)
})
