import { expect, test } from 'vitest'
import { requirementById } from '../../catalogue/catalogue.ts'
import type { Case, Material } from '../../suites/checks/case.ts'
import { jsonFaults, malformedBy } from '../../suites/checks/faults.ts'
import { changedId, randomFor, unknownId } from '../../suites/checks/random.ts'
import type { Given } from '../../harness/client/index.ts'
import { unknownJob } from '../../suites/jobs/faults.ts'

const given = { objects: { takenIds: new Set(['12xxxxxxx']) } } as unknown as Given

test.each([
  ['7', 'lengthened', '7xxxxxxxx'],
  ['123456789', 'lengthened', '123456789x'],
  ['12', 'lengthened', undefined],
  ['12345', 'cut', undefined],
  ['7000000000000001', 'cut', '700000000000000'],
  ['file_12345', 'lengthened', undefined],
  ['kg-abcdef', 'lengthened', 'kg-abcdefb'],
  ['1f0c52b3-8b21-47f6-b0d4-1e6f3c8a400a', 'lengthened', '1f0c52b3-8b21-47f6-b0d4-1e6f3c8a400ab'],
  // Readers of base64 may do without padding, and without a fifth character.
  ['a2c6NTA4MTIz', 'lengthened', 'a2c6NTA4MTIzbb'],
  ['a2c6NTA4MTIzNDU=', 'cut', undefined],
  ['a2c6NTA4MTIzNDU=', 'lengthened', undefined],
  ['{d1d1c537-7a82-48a6-be0f-50940543a321}', 'cut', undefined],
] as const)('the id %s, %s: %s', (id, way, made) => {
  expect(changedId(given, id, way)).toBe(made)
})

test.each([
  ['a ULID', '01J9ZK3V5TGYVB7Q2N4M8XWDHE', /^0[0-9A-HJKMNP-TV-Z]{25}$/],
  ['an ObjectId', '507f1f77bcf86cd799439011', /^5[0-9a-f]{23}$/],
  ['an xid', 'cmk7l2b3q0h1ga9v8fug', /^c[0-9a-v]{19}$/],
  ['a hexadecimal id of few letters', '5071f177000000000000000a', /^5[0-9a-f]{23}$/],
])('an unknown id like %s is one', (_, id, form) => {
  for (let seed = 0; seed < 50; seed++)
    expect(unknownId(id, randomFor({ options: { seed } } as Given, ''), new Set())).toMatch(form)
})

test.each(['9223372036854775000', '1789654321987654321', '2147483647'])(
  'an unknown number is not above %s',
  (id) => {
    for (let seed = 0; seed < 50; seed++) {
      const made = unknownId(id, randomFor({ options: { seed } } as Given, ''), new Set([id]))
      expect(made).toHaveLength(id.length)
      expect(BigInt(made)).toBeLessThan(BigInt(id))
    }
  },
)

test.each(['42', 'job-7', 'xyz', '6f1c1a52-93f4-4a53-9d3c-0a8b3c8f4a11'])(
  'the job %s itself is not asked for as one that does not exist',
  (id) => {
    const valid = { params: { job_id: id } } as unknown as Material['valid']
    const material = {
      requirement: requirementById['jobs.retrieve/4xx-unknown-job'],
      operation: 'jobs.retrieve',
      target: { file: {}, operations: {} },
      options: { depth: 'full', seed: 1 },
      objects: { takenIds: new Set([id]) },
      valid,
    } as unknown as Material
    const cases = unknownJob.cases(material) as readonly Case[]
    const sent = cases.map((one) => one.change(valid).params['job_id'])
    expect(sent.length).toBeGreaterThan(3)
    expect(sent).not.toContain(id)
  },
)

const bodies = [
  '{"model":"m-1","n":1}',
  '{"a":{"b":["it\'s \\"so\\""]}}',
  '{}',
  '[{"a":1}]',
  '[]',
  '{"a b":"{\\"c\\":1}"}\n',
]

test.each(bodies)('no change of %s is JSON, and none is empty', (body) => {
  for (const [, change] of Object.values(jsonFaults)) {
    const text = malformedBy(change, body)
    if (text === undefined) continue
    expect(text).not.toBe('')
    expect(() => JSON.parse(text) as unknown).toThrow()
  }
})

test('a change that the grammar does not refuse is not sent', () => {
  expect(malformedBy((text) => text, '{"a":1}')).toBeUndefined()
  expect(malformedBy((text) => text.slice(0, -1), '12')).toBeUndefined()
})
