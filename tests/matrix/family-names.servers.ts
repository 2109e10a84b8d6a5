import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { codeNames } from '../../catalogue/errors.ts'
import { isRefusal } from '../../catalogue/expected.ts'
import { isGranted, judge, refusal, type Way } from '../engine/networks.ts'
import { withoutCleanup } from './changed-targets.ts'

/** By requirement, another code name of the status that answers it (§7.2): none for errors of models, whose names are exact. */
const otherNames = new Map<string, readonly [status: number, name: string]>(
  catalogue.flatMap(({ id, expects }) => {
    if (!isRefusal(expects) || /\/(?:429|model)-/.test(id)) return []
    const [[status, ...names] = [0]] = expects
    const other = codeNames(Number(status))?.find((name) => !names.includes(name))
    const isExact = names.length > 0 && expects.every(([each]) => each === status)
    return other !== undefined && isExact ? [[id, [Number(status), other]]] : []
  }),
)

/** Refuses each probe of these requirements by the other name. */
const way: Way = async (_, send, { purpose }) => {
  const result = await send()
  const other = otherNames.get(purpose?.requirement ?? '')
  return purpose?.role !== 'probe' || !other || isGranted(result) ? result : refusal(...other)
}

test('a server that refuses by other names of the family keeps the interface in that mode alone', async () => {
  const skip = ['*/4xx-no-effect', '*-atomic', '*/409-*', '*/400-duplicate-name']
  const judged = (tpe: 'exact' | 'family') => judge([], { tpe, way, skip, change: withoutCleanup })
  const exact = await judged('exact')
  expect(exact.failed).toContain('jobs.create/404-unknown-application')
  expect(exact.failed.length).toBeGreaterThan(100)
  expect(exact.failed.filter((id) => !otherNames.has(id))).toEqual([])
  const strict = exact.results.filter(({ failures }) => failures.some(({ onlyName }) => !onlyName))
  expect(strict.map(({ id }) => id)).toEqual([])
  expect(exact.verdict).toBe('non-conformant')

  const family = await judged('family')
  expect(family.failed).toEqual([])
  expect(family.results.flatMap(({ failures }) => failures)).toEqual([])
})
