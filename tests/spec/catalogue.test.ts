import { expect, test } from 'vitest'
import { getAt } from '../../schemas/json.ts'
import { rolesOf } from '../../harness/target-file/roles.ts'
import { catalogue, isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { isOperationId, type OperationId, operations } from '../../catalogue/operations.ts'
import { targetSchema } from '../../build/target-schema/target-schema.ts'

const pointersOf = (needs: (typeof catalogue)[number]['needs']): string[] =>
  needs.flatMap((need) => [need].flat())
const tokens = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

test('ids and levels never change: ids are used in scripts, baselines and certificates', async () => {
  const lines = catalogue.map(({ id, level }) => `${level.padEnd(6)} ${id}`)
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('ids.txt')
})

test('each id is unique, begins with its area, and finds its row', () => {
  expect(new Set(catalogue.map(({ id }) => id)).size).toBe(catalogue.length)
  for (const row of catalogue) {
    expect(row.id).toMatch(
      /^[a-z0-9.-]+\/(?:[1-5]\d\d|[245]xx)-[a-z0-9-]+$|^(?:envelope|[a-z]+\.create)\/[a-z0-9-]+$|\/bad-input-no-5xx$/,
    )
    expect(row.id.startsWith(`${row.operation}/`)).toBe(true)
    expect(isRequirementId(row.id)).toBe(true)
    expect(requirementOf(row.id)).toBe(row)
  }
  expect(isRequirementId('jobs.create/200-created')).toBe(false)
  expect(isRequirementId('__proto__')).toBe(false)
})

test('every operation is judged, and stands beside three areas of its own', () => {
  const areas = new Set<string>(catalogue.map(({ operation }) => operation))
  expect([...areas].filter((area) => !isOperationId(area)).sort()).toEqual([
    'envelope',
    'general',
    'guardrails',
  ])
  expect(operations.filter(({ id }) => !areas.has(id))).toEqual([])
})

test('each statement is one sentence, and each section one of the interface', () => {
  for (const { statement, section } of catalogue) {
    expect(statement).toMatch(/^[A-Z].*\.$/)
    expect(section).toMatch(/^[1-9](?:\.\d)?(?:, [1-9](?:\.\d)?)*$/)
  }
})

test('needs are pointers to places that a target file can have', () => {
  const { keys, resources } = targetSchema().properties!
  const declarable: Record<string, (names: string[], id: string) => boolean> = {
    keys: ([name = '', ...rest]) => rest.length === 0 && Object.hasOwn(keys!.properties!, name),
    resources: ([name = '', ...rest]) =>
      Object.hasOwn(resources!.properties!, name) &&
      (rest.length === 0 || (rest.join() === 'requiredInputs' && name === 'application')),
    scenarios: (names, id) => names.length === 1 && names[0] === id,
    operations: ([operation = '', part, role = '', ...rest]) => {
      if (!isOperationId(operation) || rest.length > 0) return false
      if (part === undefined) return operation === 'files.upload'
      if (part === 'fields') return rolesOf(operation).includes(role)
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

test('a scenario is found at the pointer that a row needs', () => {
  const staged = catalogue.filter(
    ({ id, needs }) => pointersOf(needs).some((need) => need.startsWith('/scenarios/')) && id,
  )
  expect(staged.length).toBeGreaterThan(60)
  for (const { id, needs } of staged) {
    const pointer = pointersOf(needs).find((need) => need.startsWith('/scenarios/'))!
    expect(getAt({ scenarios: { [id]: 'here' } }, pointer)).toBe('here')
  }
})

test('refusals have no effect, but those that need a granted request first', () => {
  const withEffect = catalogue.filter(
    ({ id, effect }) => !/\/2(?:xx|\d\d)-/.test(id) && effect !== 'none',
  )
  expect(withEffect.map(({ id, effect }) => `${id} ${effect}`)).toEqual([
    'jobs.create/409-job-in-progress generates',
    'jobs.create/409-released generates',
    'jobs.create/4xx-no-effect generates',
    'jobs.create/409-per-application generates',
    'jobs.create/409-atomic generates',
    'graphs.create/4xx-no-effect creates',
    'graphs.create/400-atomic creates',
    'graphs.create/400-duplicate-name creates',
    'graphs.add-file/409-already-in-graph creates',
    'graphs.add-file/4xx-no-effect creates',
    'graphs.add-file/409-atomic creates',
    'applications.create/4xx-no-effect creates',
    'applications.create/400-atomic creates',
    'applications.create/400-duplicate-name creates',
  ])
})

test.each<[effect: string, operations: OperationId[]]>([
  [
    'generates',
    [
      'jobs.create',
      'jobs.retrieve',
      'completion.create',
      'chat.create',
      'graphs.query',
      'translate.run',
      'vision.analyze',
    ],
  ],
  ['creates', ['files.upload', 'graphs.create', 'graphs.add-file', 'applications.create']],
  [
    'none',
    [
      'pdf.parse',
      'files.list',
      'files.retrieve',
      'ai-detect.run',
      'web-search.run',
      'medical.comprehend',
    ],
  ],
])('granted requests of effect %s', (effect, expected) => {
  const granted = catalogue.filter((row) => /\/2(?:xx|\d\d)-/.test(row.id) && row.effect === effect)
  expect(new Set(granted.map(({ operation }) => operation))).toEqual(new Set(expected))
})

test('what is only advice is a should', () => {
  const advice = catalogue.filter(({ level }) => level === 'should').map(({ id }) => id)
  expect(advice).toEqual([
    ...[
      'completion.create',
      'chat.create',
      'graphs.add-file',
      'graphs.query',
      'ai-detect.run',
      'web-search.run',
      'medical.comprehend',
      'translate.run',
      'vision.analyze',
    ].map((id) => `${id}/4xx-missing-member`),
    'envelope/content-type',
    'envelope/message-keys',
    'envelope/unknown-path',
    'envelope/unsupported-method',
    'envelope/bad-input-no-5xx',
    'envelope/charset-parameter',
    'jobs.retrieve/200-outcome',
    'jobs.retrieve/200-stable',
    'jobs.retrieve/200-consistent',
    'chat.create/400-malformed-response-format',
    'files.upload/4xx-unknown-graph',
    'files.list/2xx-filtered',
    'files.retrieve/2xx-own-record',
    'graphs.create/400-atomic',
    'graphs.add-file/2xx-other-graph',
    'graphs.add-file/409-atomic',
    'applications.create/400-atomic',
    'medical.comprehend/400-malformed-request',
    'vision.analyze/400-malformed-request',
  ])
})
