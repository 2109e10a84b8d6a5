import { refusedByScenario } from '../declared/scenarios.ts'

/** Operation ids. */
export const operations = {
  /** Those with a JSON body. */
  json: [
    'pdf.parse',
    'jobs.create',
    'completion.create',
    'chat.create',
    'graphs.create',
    'graphs.add-file',
    'graphs.query',
    'applications.create',
    'ai-detect.run',
    'web-search.run',
    'medical.comprehend',
    'translate.run',
    'vision.analyze',
  ],
  others: ['jobs.retrieve', 'files.upload', 'files.list', 'files.retrieve'],
}

const everywhere = [
  '401-missing-credentials',
  '401-malformed-key',
  '401-invalid-key',
  '401-expired-key',
  '403-insufficient-rights',
]

/** Beside what a scenario of the target file brings about. */
const own: Readonly<Record<string, readonly string[]>> = {
  'jobs.create': [
    '400-missing-body',
    '400-missing-inputs',
    '400-missing-required-inputs',
    '400-malformed-inputs',
    '404-unknown-application',
    '409-job-in-progress',
  ],
  'jobs.retrieve': ['4xx-unknown-job', '4xx-malformed-id'],
  'pdf.parse': [
    '400-missing-body',
    '400-missing-format',
    '400-unsupported-format',
    '400-malformed-format',
    '400-corrupted-pdf',
    '400-encrypted-pdf',
    '400-oversized-pdf',
    '4xx-unknown-file',
    '4xx-removed',
  ],
  'completion.create': [
    '400-unsupported-model',
    '400-malformed-request',
    '400-empty-prompt',
    '400-bad-encoding',
    '400-invalid-temperature',
    '400-invalid-max-tokens',
    '400-invalid-parameter',
  ],
  'chat.create': [
    '400-query-config',
    '400-malformed-messages',
    '400-invalid-role',
    '400-unsupported-model',
    '400-malformed-tools',
    '400-malformed-tool-choice',
    '400-invalid-stream',
    '400-invalid-stream-options',
    '400-malformed-response-format',
  ],
  'files.retrieve': ['404-unknown-file', '410-deleted-file'],
  'graphs.create': ['400-malformed-parameters', '400-duplicate-name'],
  'graphs.add-file': ['404-unknown-graph', '409-already-in-graph'],
  'graphs.query': ['400-query-config', '400-malformed-parameters', '404-unknown-graph'],
  'applications.create': ['400-malformed-parameters', '400-duplicate-name'],
  'ai-detect.run': ['400-empty-text', '400-malformed-text'],
  'web-search.run': ['400-empty-query', '400-malformed-query'],
  'medical.comprehend': ['400-malformed-request'],
  'translate.run': ['400-unsupported-language', '400-empty-text', '400-malformed-text'],
  'vision.analyze': ['400-malformed-request'],
}

function each(names: readonly string[], conditions: readonly string[]): string[] {
  return names.flatMap((name) => conditions.map((condition) => `${name}/${condition}`))
}

/** Ids of the requirements that want a request refused, all of which go through `Call.refuse`. */
export const refusals: readonly string[] = [
  ...each([...operations.json, ...operations.others], everywhere),
  ...each(operations.json, ['400-malformed-json', '400-wrong-content-type']),
  ...each(
    operations.json.filter((name) => name !== 'jobs.create'),
    ['4xx-malformed-body'],
  ),
  ...Object.entries(own).flatMap(([operation, conditions]) => each([operation], conditions)),
  ...refusedByScenario,
]
