import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { validRequest } from '../../catalogue/requirement.ts'
import { type Expected, isRefusal, pairsOf } from '../../catalogue/expected.ts'
import {
  type CatalogueRequirement,
  catalogue,
  grantedRequirement,
} from '../../catalogue/catalogue.ts'
import { mayCarry } from '../../catalogue/errors.ts'
import { isOperationId, operations } from '../../catalogue/operations.ts'
import { listedPairs } from './tables.ts'

function told(expects: Expected | undefined): string {
  if (!isRefusal(expects)) return String(expects ?? '-')
  return expects
    .map(([status, ...names]) => [status, names.join(' | ')].join(' ').trim())
    .join(', ')
}

const givenBy = ({ id, expects, alsoListed }: CatalogueRequirement): string =>
  `${id}  ${told(expects)}${alsoListed ? ', or as listed' : ''}`

// No snapshot: a line there is changed by hand, and read against the interface.
test('what answers each requirement is what expects.txt says', () => {
  const known = readFileSync(new URL('expects.txt', import.meta.url), 'utf8')
  expect(`${catalogue.map(givenBy).join('\n')}\n`).toBe(known)
})

test('each type that §7.3 lists for an operation is what one of its requirements asks for', () => {
  const missing = operations.flatMap(({ id }) => {
    const asked = catalogue
      .filter((row) => row.operation === id && isRefusal(row.expects))
      .flatMap((row) =>
        pairsOf(row, id).flatMap(([status, ...names]) => names.map((name) => `${status} ${name}`)),
      )
    return listedPairs(id)
      .map(([name, status]) => `${status} ${name}`)
      .filter((pair) => !asked.includes(pair))
      .map((pair) => `${id}: ${pair}`)
  })
  expect(missing).toEqual([])
})

test('a requirement asks for types that its status may carry, but for those of another section', () => {
  const others = catalogue.flatMap((row) => {
    const { id, operation, expects } = row
    if (!isOperationId(operation) || !isRefusal(expects)) return []
    return expects.flatMap(([status, ...names]) =>
      names
        .filter((name) => typeof status === 'number' && !mayCarry(operation, status, name))
        .map((name) => `${id}: ${status} ${name}`),
    )
  })
  // §8 says 400 or 413 of every size; §7.3 calls a deleted file ResourceNotFound.
  expect(others.filter((line) => !/: 413 /.test(line))).toEqual([
    'pdf.parse/4xx-unknown-file: 410 ResourceNotFound',
  ])
})

test('each operation has one control, which needs its valid request', () => {
  expect(catalogue.filter(({ control }) => control).map(({ operation }) => operation)).toHaveLength(
    operations.length,
  )
  for (const { id } of operations) {
    const row = catalogue.find((each) => each.id === grantedRequirement[id])
    expect(row).toMatchObject({ operation: id, needs: validRequest[id], control: true })
    expect(isRefusal(row?.expects)).toBe(false)
  }
})

test('what is no matter of an answer has none', () => {
  expect(catalogue.filter(({ expects }) => expects === undefined).map(({ id }) => id)).toEqual([
    'envelope/shape',
    'envelope/status-tpe-pair',
    'envelope/content-type',
    'envelope/message-keys',
    'envelope/bad-input-no-5xx',
    'jobs.create/202-any-text',
    'graphs.create/2xx-usable',
    'graphs.add-file/2xx-other-graph',
    'applications.create/2xx-usable',
  ])
})
