import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  isPublished,
  ownVersion,
  suiteFacts,
  type SuiteVersion,
} from '../../certificate/suite-facts.ts'

const file = new URL('../../certificate/published-versions.json', import.meta.url)
const published = JSON.parse(readFileSync(file, 'utf8')) as SuiteVersion[]

test('each version stands there once, and whole', () => {
  expect(new Set(published.map(({ version }) => version)).size).toBe(published.length)
  for (const entry of published)
    expect(entry).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      specVersion: expect.stringMatching(/^\d+\.\d+$/),
      specDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      requirementsDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      requirements: expect.any(Number),
    })
})

test('requirements that were published under a version do not change under it: raise the version', () => {
  const own = ownVersion()
  expect(published.filter(({ version }) => version === own.version)).toEqual(
    published.some(({ version }) => version === own.version) ? [own] : [],
  )
})

test('a version knows its own requirements before it is published, and those of the versions before it', () => {
  const facts = suiteFacts()
  expect(facts.published).toEqual(published)
  for (const version of [ownVersion(), ...published]) expect(isPublished(version, facts)).toBe(true)
})
