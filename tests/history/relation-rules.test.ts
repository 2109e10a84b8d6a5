/** Every rule about created objects as a table of histories: no server, no clock. */
import { describe, expect, test } from 'vitest'
import { requirementById, type RequirementId } from '../../catalogue/catalogue.ts'
import { relationRule } from '../../suites/created/rules.ts'
import { objectsOf } from './object-stories.ts'
import { tablesIn } from './stories.ts'

/** A creation after the same one was refused without a key, and one beside. */
const looks = (said: string, ...names: readonly string[]): string =>
  names
    .filter((name) => name !== 'plain')
    .map(
      (name, at) => `${at}00 create ${name}/401: 401; ${at}10 create ${name}: ${said}; \
${at}20 create p${at}: ${names.includes('plain') ? '400' : `200 p${at}`}`,
    )
    .join('; ')

describe.each(tablesIn<RequirementId>('relation-rules.txt', { looks }))('%s', (id, rows) => {
  test.each(rows)('%s: %s', (verdict, _, story) => {
    const [live, recorded = live] = verdict.split('/')
    const rule = relationRule(requirementById[id])!
    const outcomes = [false, true].map((is) => rule(objectsOf(story, is)).outcome)
    expect(outcomes).toEqual([live, recorded])
  })
})
