import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { runConformance } from '../../library/index.ts'
import { everyOperation } from './fits.ts'
import { mockKey, mockServer } from './mock-server.ts'

/** Requirements that a mock of the document can meet: it needs no state, and no name of a condition. */
const shown = [
  '*/401-missing-credentials',
  '*/401-malformed-key',
  '*/401-invalid-key',
  'pdf.parse/200-*',
  'pdf.parse/400-malformed-json',
  'jobs.create/202-created',
  'jobs.create/400-m*',
  'medical.comprehend/200-entities',
  '*/2xx-accepted',
  'envelope/*',
] as const

test('a mock server that is driven by the document is right in all that the document says', async () => {
  const run = runConformance(
    {
      baseUrl: await mockServer(),
      keys: { full: mockKey },
      resources: {
        application: { id: 'app', inputs: [{ id: 'topic', value: ['tea'] }] },
        pdfFile: 'file',
      },
      operations: {
        'completion.create': { body: { model: 'm-1', prompt: 'Hello' } },
        'medical.comprehend': {
          body: { content: 'Tea eased the cough.', response_type: 'Entities' },
        },
        'translate.run': { body: { text: 'tea' } },
      },
      limits: { jobTimeoutMs: 500, settleMs: 100 },
    },
    { only: shown, depth: 'quick', seed: 1 },
  )
  const { requirements } = await run.report
  const failed = requirements.filter(({ outcome }) => outcome === 'failed')
  expect(failed.map(({ id, failures }) => [id, failures[0]?.message, failures[0]?.actual])).toEqual(
    [],
  )
  const passed = requirements.filter(({ outcome }) => outcome === 'passed').map(({ id }) => id)
  for (const id of [
    'pdf.parse/200-text',
    'pdf.parse/200-markdown',
    'jobs.create/202-created',
    'jobs.create/400-malformed-json',
    'jobs.create/400-missing-inputs',
    'jobs.create/400-malformed-inputs',
    'medical.comprehend/200-entities',
    'translate.run/2xx-accepted',
    'files.list/2xx-accepted',
    'envelope/shape',
    'envelope/status-tpe-pair',
  ])
    expect(passed).toContain(id)
  expect(passed.filter((id) => id.endsWith('/401-missing-credentials'))).toHaveLength(
    operations.length,
  )
})

test('a mock server answers each operation by its example', async () => {
  const baseUrl = await mockServer()
  for (const { id, path, status, example, request } of everyOperation(mockKey)) {
    const response = await fetch(baseUrl + path, request)
    expect([id, response.status, await response.json()]).toEqual([id, status, example])
  }
})

test('what needs state it cannot know, and is accused of it', async () => {
  const run = runConformance(
    { baseUrl: await mockServer(), keys: { full: mockKey }, resources: { pdfFile: 'file' } },
    { only: ['pdf.parse/4xx-unknown-file'], seed: 1 },
  )
  const { requirements } = await run.report
  expect(requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)).toEqual([
    'pdf.parse/4xx-unknown-file',
  ])
})
