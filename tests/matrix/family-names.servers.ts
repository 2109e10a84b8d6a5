import { expect, test } from 'vitest'
import { defects } from '../../reference/server.ts'
import { codeNames } from '../../catalogue/errors.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import { ownId } from './also-red.ts'
import { withoutCleanup } from './changed-targets.ts'
import { idsOf, judgeReference } from './judge-reference.ts'

const otherNames = defects.filter((defect) => defect.endsWith('#tpe'))

/** Whether an answer names a type of its status's row of §7.2. */
function isFamilyName({ id, failures: [first] }: RequirementResult): boolean {
  const { status, body } = first?.exchange?.response ?? { status: 0, body: '{}' }
  const { tpe } = JSON.parse(body) as { tpe: string }
  return codeNames(status)?.includes(tpe) === true && !id.includes('/model-')
}

test('a server that answers with other names of the family keeps the interface in that mode alone', async () => {
  const exact = await judgeReference(
    { jobMs: 15, defects: otherNames, slowJobMs: 1000 },
    { change: withoutCleanup },
  )
  expect(idsOf(exact.results, 'failed').toSorted()).toEqual(otherNames.map(ownId).toSorted())
  expect(exact.verdicts.exact).toBe('non-conformant')

  const failed = exact.results.filter(({ outcome }) => outcome === 'failed')
  const names = failed.filter(isFamilyName).map(({ id }) => id)
  expect(names).toContain('jobs.create/404-unknown-application')
  expect(names.length).toBeGreaterThan(100)
  expect(
    failed
      .filter(({ failures }) => failures.every(({ familyOnly }) => familyOnly))
      .map(({ id }) => id),
  ).toEqual(names)

  const ofThese = otherNames.filter((defect) => names.includes(ownId(defect)))
  const family = await judgeReference(
    { jobMs: 15, defects: ofThese, slowJobMs: 1000 },
    { change: withoutCleanup, options: { tpe: 'family' } },
  )
  expect(idsOf(family.results, 'failed')).toEqual([])
  expect(
    family.results
      .filter(({ failures }) => failures.some(({ familyOnly }) => familyOnly))
      .map(({ id }) => id),
  ).toEqual(names)
  expect(family.verdicts).toEqual({ exact: 'non-conformant', family: 'conformant' })
})
