import { expect, test } from 'vitest'
import { unknown } from '../../harness/checks/conditions.ts'
import { accepted } from '../../harness/checks/granted.ts'
import { suite } from '../../harness/checks/suite.ts'
import { catalogue, type RequirementId } from '../../catalogue/catalogue.ts'
import { isObserved } from '../../harness/report/selection.ts'
import { casesOf, judgeOf } from '../../suites/suites.ts'

const deleted = unknown('file_id')
const file = {
  '2xx-accepted': accepted,
  '2xx-own-record': accepted,
  '404-unknown-file': deleted,
  '410-deleted-file': deleted,
}

test('every requirement is judged by a suite', async () => {
  const judges = catalogue.map(({ id }) => judgeOf(id))
  expect(catalogue.filter((_, at) => judges[at] === undefined)).toEqual([])
})

test('all that is sent for a requirement is known before, or has a bound', () => {
  const both = catalogue.filter((row) => casesOf(row.id) && row.atMost)
  // It makes a graph for one of its cases.
  expect(both.map(({ id }) => id)).toEqual(['graphs.add-file/4xx-unknown-file'])
  // The request of a control is counted once for the operation.
  const neither = catalogue
    .filter(({ id, scenarioOnly, control }) => !scenarioOnly && !control && !isObserved(id))
    .filter((row) => !casesOf(row.id) && !row.atMost)
  expect(neither.map(({ id }) => id)).toEqual([])
})

test('what only a scenario can bring about needs no check', () => {
  expect(suite('files.retrieve', () => file)('files.retrieve/403-file-access')).toBeDefined()
  expect(suite('files.retrieve', () => file)('files.list/2xx-accepted')).toBeUndefined()
})

test('mistakes in a suite do not compile', () => {
  // @ts-expect-error the operation has no such condition
  suite('files.retrieve', () => ({ ...file, '404-unknwon-file': deleted }))
  const { '410-deleted-file': _deleted, ...without } = file
  // @ts-expect-error a requirement that is probed has no check
  suite('files.retrieve', () => without)
  // @ts-expect-error a granted requirement is not judged by what brings a refusal about
  suite('files.retrieve', () => ({ ...file, '2xx-accepted': deleted }))
  // @ts-expect-error no such operation
  expect(() => suite('files.remove', () => ({}))('files.remove/x')).toThrow()
  // @ts-expect-error no such requirement
  const id: RequirementId = 'files.retrieve/404-unknwon-file'
  expect(catalogue.map((row): string => row.id)).not.toContain(id)
})
