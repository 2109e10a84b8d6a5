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
  /** §7.3 lists InternalError 500 for these. */
  internalError: [
    'jobs.create',
    'pdf.parse',
    'files.upload',
    'graphs.create',
    'graphs.query',
    'applications.create',
    'ai-detect.run',
    'web-search.run',
    'translate.run',
    'vision.analyze',
  ],
}

const everywhere = [
  '401-missing-credentials',
  '401-malformed-key',
  '401-invalid-key',
  '401-expired-key',
  '403-insufficient-rights',
  '429-quota-exceeded',
]
const models = [
  '403-model-access',
  '429-model-quota',
  'model-unauthorized',
  'model-underlying-request',
  'model-no-prediction',
]

const own: Readonly<Record<string, readonly string[]>> = {
  'jobs.create': [
    '400-missing-body',
    '400-missing-inputs',
    '400-missing-required-inputs',
    '400-malformed-inputs',
    '403-application-access',
    '404-unknown-application',
    '409-job-in-progress',
  ],
  'jobs.retrieve': ['4xx-unknown-job', '4xx-foreign-job', '4xx-malformed-id'],
  'pdf.parse': [
    '400-missing-body',
    '400-missing-format',
    '400-unsupported-format',
    '400-malformed-format',
    '400-corrupted-pdf',
    '400-encrypted-pdf',
    '400-oversized-pdf',
    '403-file-access',
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
    '500-model-unavailable',
    '500-model-overload',
    'model-unsafe-request',
    ...models,
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
    '400-unsafe-request',
    '403-graph-access',
    '500-model-internal-error',
    '503-model-unavailable',
    ...models,
  ],
  'files.upload': ['400-unsupported-type', '400-oversized', '400-corrupted', '413-body-too-large', '507-storage-full'],
  'files.retrieve': ['403-file-access', '404-unknown-file', '410-deleted-file'],
  'graphs.create': ['400-malformed-parameters', '400-invalid-name', '400-duplicate-name'],
  'graphs.add-file': [
    '400-unsupported-type',
    '400-unparsable',
    '403-graph-access',
    '403-file-access',
    '404-unknown-graph',
    '409-already-in-graph',
  ],
  'graphs.query': [
    '400-query-config',
    '400-malformed-parameters',
    '400-too-complex',
    '403-graph-access',
    '404-unknown-graph',
  ],
  'applications.create': ['400-malformed-parameters', '400-invalid-blueprint', '400-duplicate-name'],
  'ai-detect.run': ['400-empty-text', '400-malformed-text', '400-text-too-long'],
  'web-search.run': ['400-empty-query', '400-malformed-query', '400-query-too-long', '503-search-down'],
  'medical.comprehend': ['400-malformed-request'],
  'translate.run': [
    '400-unsupported-language',
    '400-empty-text',
    '400-malformed-text',
    '400-text-too-long',
    '503-unavailable',
  ],
  'vision.analyze': [
    '400-malformed-request',
    '403-model-access',
    '403-file-access',
    '400-unsupported-image',
    '400-oversized-image',
    '400-corrupted-image',
    '503-unavailable',
  ],
  guardrails: [
    '400-blocked',
    '400-blocked-by-provider',
    '401-provider-credentials',
    '403-provider-permissions',
    '404-unknown-guardrail',
    '500-provider-error',
    '503-provider-down',
  ],
  general: [
    '409-conflict',
    '410-gone',
    '413-payload-too-large',
    '422-unprocessable',
    '500-internal-error',
    '503-unavailable',
    '507-insufficient-storage',
  ],
}

function each(names: readonly string[], conditions: readonly string[]): string[] {
  return names.flatMap((name) => conditions.map((condition) => `${name}/${condition}`))
}

/** Ids of the requirements that want a request refused, all of which go through `Call.refuse`. */
export const refusals: readonly string[] = [
  ...each([...operations.json, ...operations.others], everywhere),
  ...each(operations.json, ['400-malformed-json', '400-wrong-content-type']),
  ...each(operations.internalError, ['500-internal-error']),
  ...Object.entries(own).flatMap(([operation, conditions]) => each([operation], conditions)),
]

const anyName = new Set([
  ...each(['pdf.parse'], ['400-missing-body', '400-missing-format', '400-unsupported-format', '400-malformed-format']),
  'pdf.parse/4xx-unknown-file',
  'pdf.parse/4xx-removed',
  'jobs.create/400-missing-body',
  'jobs.retrieve/4xx-unknown-job',
  'jobs.retrieve/4xx-malformed-id',
  'completion.create/400-bad-encoding',
  'chat.create/400-query-config',
  'chat.create/400-malformed-response-format',
  'graphs.query/400-query-config',
  'files.upload/413-body-too-large',
  'medical.comprehend/400-malformed-request',
  'vision.analyze/400-malformed-request',
])

/** Whether the requirement accepts every code name of its status, so that none of them breaks it. */
export function allowsAnyName(id: string): boolean {
  return anyName.has(id) || id.startsWith('general/')
}

/** Whether the requirement accepts more statuses than a `#status` could stay clear of. */
export function allowsAnyStatus(id: string): boolean {
  return (
    id === 'jobs.retrieve/4xx-unknown-job' ||
    id === 'jobs.retrieve/4xx-malformed-id' ||
    id === 'pdf.parse/4xx-removed' ||
    /\/model-/.test(id)
  )
}
