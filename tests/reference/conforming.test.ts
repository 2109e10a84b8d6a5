import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { isRefusal } from '../../catalogue/expected.ts'
import { startReference, variants } from '../../reference/server.ts'
import { settleMs, withReference } from './client.ts'
import { isRefused, pairsFor, refusals } from './refusals.ts'
import { effects } from './variant-effects.ts'

/** These need several requests. */
const ofStates = /^envelope|\/(?:4xx-removed|4xx-no-effect|409-|400-atomic)|bad-input-no-5xx$/

test('every requirement on a refusal is looked at here, but those of states', () => {
  const unseen = catalogue.filter(({ id, expects }) => isRefusal(expects) && !refusals.has(id))
  expect(unseen.map(({ id }) => id).filter((id) => !ofStates.test(id))).toEqual([])
})

test('the reference refuses what the interface wants refused, and a defect named after a requirement does not', async () => {
  const wrong: string[] = []
  for (const [id, provoke] of refusals) {
    const pairs = pairsFor(id)
    const refused = await withReference({}, provoke)
    if (!isRefused(refused, pairs)) wrong.push(`${id}: ${refused.status} ${refused.text}`)
    const granted = await withReference({ defects: [id] }, provoke)
    if (isRefused(granted, pairs)) wrong.push(`${id}, broken: ${granted.status} ${granted.text}`)
  }
  expect(wrong).toEqual([])
})

test('every variant is looked at here', () => {
  expect(Object.keys(effects).toSorted()).toEqual(variants.toSorted())
})

test.each(variants)('%s shows in an answer', async (variant) => {
  const options = { variants: [variant], settleMs, slowRefusalMs: settleMs }
  expect(await withReference(options, effects[variant]!)).toBe(true)
})

test('a name that does not exist is refused', async () => {
  await expect(startReference({ defects: ['jobs.create/202-made'] })).rejects.toThrow(
    'no defect "jobs.create/202-made"',
  )
  await expect(startReference({ variants: ['json/upside-down'] })).rejects.toThrow(
    'no variant "json/upside-down"',
  )
})
