import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  type CatalogueRequirement,
  catalogue,
  granting,
  findRequirement,
  requirementById,
  published,
  type RequirementId,
} from '../../catalogue/catalogue.ts'
import { mayCarry, isRefusal, pairsOf } from '../../catalogue/answers.ts'
import { isOperationId, operationOf, operations } from '../../catalogue/operations.ts'
import { validRequest } from '../../catalogue/requirement.ts'
import { listedPairs, requirementsByHand } from './tables.ts'
import { unknown } from '../../suites/checks/faults.ts'
import { type Checks, suite } from '../../suites/checks/suite.ts'
import { casesOf } from '../../suites/plan.ts'
import { readings } from '../../cli/explain.ts'

const pointersOf = (needs: (typeof catalogue)[number]['needs']): string[] =>
  needs.flatMap((need) => [need].flat())
const tokens = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

function answersOf({ expects, alsoListed }: CatalogueRequirement): string {
  if (!isRefusal(expects)) return String(expects ?? '-')
  const pairs = expects.map(([status, ...names]) => [status, names.join(' | ')].join(' ').trim())
  return `${pairs.join(', ')}${alsoListed ? ', or as listed' : ''}`
}

// No snapshot: a line there is changed by hand, and read against the interface. Scripts, baselines and certificates use ids: an id
// and its level never change.
test('each requirement has the level, the effect and the answers that requirements.txt says', () => {
  const rows = catalogue.map((row): [string, string[]] => [
    row.id,
    [row.effect === 'none' ? row.level : `${row.level} ${row.effect}`, answersOf(row)],
  ])
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(requirementsByHand))
})

test('each id is unique, begins with its area, and finds its row', () => {
  expect(new Set(catalogue.map(({ id }) => id)).size).toBe(catalogue.length)
  for (const row of catalogue) {
    expect(row.id).toMatch(
      /^[a-z0-9.-]+\/(?:[1-5]\d\d|[245]xx)-[a-z0-9-]+$|^(?:envelope|[a-z]+\.create)\/[a-z0-9-]+$|\/bad-input-no-5xx$/,
    )
    expect(row.id.startsWith(`${row.operation}/`)).toBe(true)
    expect(requirementById[row.id]).toBe(row)
  }
  expect(findRequirement('jobs.create/200-created')).toBeUndefined()
  expect(findRequirement('__proto__')).toBeUndefined()
})

test('each statement is one sentence, and each section one of the interface', () => {
  for (const { statement, section } of catalogue) {
    expect(statement).toMatch(/^[A-Z].*\.$/)
    expect(section).toMatch(/^[1-9](?:\.\d)?(?:, [1-9](?:\.\d)?)*$/)
  }
})

interface SchemaOfMembers {
  readonly properties: Readonly<Record<string, SchemaOfMembers>>
}

test('needs are pointers to places that a target file can have', () => {
  const file = new URL('../../schemas/target.schema.json', import.meta.url)
  const { keys, resources } = (JSON.parse(readFileSync(file, 'utf8')) as SchemaOfMembers).properties
  const declarable: Record<string, (names: string[], id: string) => boolean> = {
    keys: ([name = '', ...rest]) => rest.length === 0 && Object.hasOwn(keys!.properties, name),
    resources: ([name = '', ...rest]) =>
      Object.hasOwn(resources!.properties, name) &&
      (rest.length === 0 || (rest.join() === 'requiredInputs' && name === 'application')),
    scenarios: (names, id) => names.length === 1 && names[0] === id,
    operations: ([operation = '', part, role = '', ...rest]) => {
      if (!isOperationId(operation) || rest.length > 0) return false
      if (part === undefined) return operation === 'files.upload'
      if (part === 'fields') return Object.hasOwn(operationOf(operation).fields, role)
      return part === 'body' || (part === 'content' && operation === 'files.upload')
    },
  }
  const wrong = catalogue.flatMap(({ id, needs }) =>
    pointersOf(needs).flatMap((pointer) => {
      const [member = '', ...names] = tokens(pointer)
      return declarable[member]?.(names, id) ? [] : [`${id}: ${pointer}`]
    }),
  )
  expect(wrong).toEqual([])
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
    const row = catalogue.find((each) => each.id === granting[id].id)
    expect(row).toMatchObject({ operation: id, needs: validRequest[id], control: true })
    expect(isRefusal(row?.expects)).toBe(false)
  }
})

test('the digest of the requirements is of JSON: nothing of a row gets lost in it', () => {
  const requirements = catalogue.map(published)
  expect(JSON.parse(JSON.stringify(requirements))).toEqual(requirements)
})

const deleted = unknown('file_id')

test('all that is sent for a requirement is known before, or has a bound', () => {
  const both = catalogue.filter((row) => casesOf(row.id) && row.atMost)
  // It makes a graph for one of its cases.
  expect(both.map(({ id }) => id)).toEqual(['graphs.add-file/4xx-unknown-file'])
  // The request of a control is counted once for the operation.
  const neither = catalogue
    .filter((one) => !one.scenarioOnly && !one.control && !one.isObserved)
    .filter((row) => !casesOf(row.id) && !row.atMost)
  expect(neither.map(({ id }) => id)).toEqual([])
})

test('mistakes in a suite do not compile', () => {
  const file = {} as Checks<'files.retrieve'>
  suite('files.retrieve', () => file)
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

const text = readFileSync(new URL('../../catalogue/readings.md', import.meta.url), 'utf8')
const ids: readonly string[] = catalogue.map(({ id }) => id)

/** The ids and patterns that the page cites. */
const cited = [...text.matchAll(/`((?:\*|[a-z-]+(?:\.[a-z-]+)?)\/(?:[0-9a-z*-]+))`/g)].map(
  ([, id = '']) => id,
)
const matching = (pattern: string): string[] => {
  const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  return ids.filter((id) => expression.test(id))
}

const known: ReadonlySet<string> = new Set(ids.filter((id) => readings(id).length > 0))

test('each id that is cited exists', () => {
  expect(cited.length).toBeGreaterThan(100)
  const mediaTypes = ['text/json', 'application/json']
  expect(cited.filter((id) => matching(id).length === 0 && !mediaTypes.includes(id))).toEqual([])
})

test('each requirement that accepts several answers has its reason', () => {
  const several = catalogue.filter(({ statement }) =>
    /\b[45]\d\d\b.*\b(?:or|also)\b/.test(statement),
  )
  expect(several.length).toBeGreaterThan(50)
  expect(several.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([])
})

test('each should has its reason', () => {
  expect(catalogue.filter(({ id, level }) => level === 'should' && !known.has(id))).toEqual([])
})
