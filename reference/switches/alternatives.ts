/** A pair that stands in the spec, or is allowed by it, beside the one that the reference usually answers. */
export interface Alternative {
  /** Name of the variant: `<id>=<status>-<tpe>`. */
  readonly name: string
  /** Requirement id; `@...` names one of its faults if only that may be answered so, `*` stands for any operation. */
  readonly id: string
  readonly status: number
  readonly tpe: string
}

const tooLarge = ['413-BadRequest', '413-PayloadTooLarge', '413-InvalidInputParameters']
const unknownModel = ['404-ResourceNotFound', '404-NotFound']
const validation = ['400-BadRequest', '400-InvalidInputParameters', '400-InvalidContentType']

const pairs: Readonly<Record<string, readonly string[]>> = {
  '*/401-invalid-key': ['401-BadCredentials'],
  '*/400-malformed-json': ['400-BadRequest'],
  '*/400-wrong-content-type': ['400-BadRequest'],
  'jobs.retrieve/429-quota-exceeded': ['429-TooManyRequests'],
  'files.list/429-quota-exceeded': ['429-TooManyRequests'],
  'medical.comprehend/429-quota-exceeded': ['429-TooManyRequests'],
  'jobs.create/400-missing-body': validation.slice(1),
  'jobs.create/400-missing-inputs': ['400-BadRequest'],
  'jobs.create/400-malformed-inputs': ['400-InvalidInputParameters'],
  'jobs.retrieve/4xx-unknown-job': [
    ...['404-NotFound', '410-Gone', '400-BadRequest', '403-InsufficientAccessRights', '422-UnprocessableEntity'],
  ],
  'jobs.retrieve/4xx-foreign-job': ['404-ResourceNotFound', '404-NotFound'],
  'jobs.retrieve/4xx-malformed-id': [
    ...['404-ResourceNotFound', '404-NotFound', '400-InvalidInputParameters', '422-UnprocessableEntity'],
  ],
  'pdf.parse/400-missing-body': validation.slice(1),
  'pdf.parse/400-missing-format': validation.slice(1),
  'pdf.parse/400-unsupported-format': ['400-BadRequest', '400-InvalidContentType'],
  'pdf.parse/400-malformed-format': validation.slice(1),
  'pdf.parse/400-oversized-pdf': tooLarge,
  'pdf.parse/4xx-unknown-file': [
    '404-NotFound',
    '410-Gone',
    '410-ResourceNotFound',
    '400-BadRequest',
    '400-InvalidInputParameters',
    '403-InsufficientAccessRights',
  ],
  'completion.create/400-unsupported-model': unknownModel,
  'completion.create/400-malformed-request@prompt': validation.slice(1),
  'completion.create/400-bad-encoding': ['400-BadRequest', '400-InvalidContentType'],
  'chat.create/400-query-config': ['400-BadRequest', '400-InvalidContentType'],
  'chat.create/400-unsupported-model': unknownModel,
  'chat.create/400-malformed-response-format': validation.slice(1),
  'files.upload/400-oversized': tooLarge,
  'files.upload/413-body-too-large': [
    '413-PayloadTooLarge',
    '413-InvalidInputParameters',
    '400-InvalidInputParameters',
  ],
  'graphs.query/400-query-config': ['400-BadRequest', '400-InvalidContentType'],
  'graphs.query/400-too-complex': tooLarge,
  'ai-detect.run/400-text-too-long': tooLarge,
  'web-search.run/400-query-too-long': tooLarge,
  'medical.comprehend/400-malformed-request': validation.slice(1),
  'translate.run/400-malformed-text': ['400-BadRequest'],
  'translate.run/400-text-too-long': tooLarge,
  'vision.analyze/400-malformed-request': validation.slice(1),
  'vision.analyze/400-oversized-image': tooLarge,
  'guardrails/400-blocked': ['400-BadRequest'],
  'general/410-gone': ['410-ResourceNotFound'],
  'general/413-payload-too-large': ['413-BadRequest', '413-InvalidInputParameters'],
  'general/500-internal-error': ['500-InternalError'],
  'general/503-unavailable': ['503-InternalError'],
}

/** The variants that answer another pair. */
export const alternatives: readonly Alternative[] = Object.entries(pairs).flatMap(([id, spelled]) =>
  spelled.map((pair) => ({ name: `${id}=${pair}`, id, status: Number(pair.slice(0, 3)), tpe: pair.slice(4) })),
)
