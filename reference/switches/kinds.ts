import { refusedByScenario } from '../declared/scenarios.ts'

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

const types = {
  format: ['null', 'number', 'boolean', 'array', 'object'],
  number: ['string', 'boolean', 'array', 'object'],
}

const numbers = [
  'search_weight',
  'max_subquestions',
  'grounding_level',
  'max_snippets',
  'max_tokens',
  'keyword_threshold',
  'semantic_threshold',
]
// Whether more or fewer snippets than that are a fault is not told (§2.7): nobody sends them.
const bounded = numbers.filter((name) => name !== 'max_snippets')
const queryConfig = [
  ...bounded.flatMap((name) => ['low', 'high'].map((kind) => `${name}-${kind}`)),
  ...numbers.flatMap((name) => ['string', 'array', 'object'].map((kind) => `${name}-${kind}`)),
  'inline_citations',
  ...['search_weight-far', 'grounding_level-near', 'keyword_threshold-far', 'max_tokens-wrapped'],
  ...['whole-string', 'whole-number', 'whole-array', 'whole-falsy'],
]

const malformedKey = [
  ...['no-scheme', 'other-scheme', 'six-letter-scheme', 'no-blank', 'text-after'],
  ...['bearer-alone', 'null', 'word', 'three-parts'],
]
const invalidKey = [
  ...['cut', 'appended', 'letter-case', 'signature', 'signature-end', 'other-payload', 'other-header'],
  ...['no-signature', 'fourth-part', 'alg-none-capitals'],
  ...['alg-none', 'alg-none-cut', 'alg-none-signed', 'moved-exp', 'other-subject'],
]
// Where a server may look at the key less closely than at the path of the operation.
const spellings = ['slash', 'double-slash', 'path-parameter', 'upper-case']
const places = [...spellings, 'no-body']
const oddPlaces = ['suffix', 'percent-encoded', 'query']
// A router takes an odd spelling everywhere or nowhere: not each operation is asked for each of them.
const askedForAll = ['pdf.parse', 'jobs.create', 'jobs.retrieve']
const malformedJson = [
  ...['cut', 'comma', 'text-after-end', 'second-document', 'comment', 'nan', 'number'],
  ...['single-quotes', 'unquoted', 'line-end'],
]
const mediaTypes = [
  ...['text/plain', 'text/plain; format=json', 'application/xml', 'application/octet-stream'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data'],
]

const everyOperation = [...operations.json, ...operations.others]
const gets = operations.others.filter((name) => name !== 'files.upload')
const posts = everyOperation.filter((name) => !gets.includes(name))

function onEach(
  names: readonly string[],
  condition: string,
  kinds: readonly string[],
): Record<string, readonly string[]> {
  return Object.fromEntries(names.map((name) => [`${name}/${condition}`, kinds]))
}

/** The kinds shared out among the operations: each on every so manieth, and each operation has some. */
function shared(
  names: readonly string[],
  condition: string,
  kinds: readonly string[],
): Record<string, readonly string[]> {
  const apart = Math.ceil(kinds.length / 3)
  const own = (at: number) => kinds.filter((_, kind) => kind % apart === at % apart)
  return Object.fromEntries(names.map((name, at) => [`${name}/${condition}`, own(at)]))
}

/** More kinds of some requirements. */
function and(
  some: Record<string, readonly string[]>,
  more: Readonly<Record<string, readonly string[]>>,
): Record<string, readonly string[]> {
  const added = Object.entries(more).map(([id, kinds]) => [id, [...(some[id] ?? []), ...kinds]])
  return { ...some, ...(Object.fromEntries(added) as Record<string, readonly string[]>) }
}

const oddly = (condition: string, odd: readonly string[], some: Record<string, readonly string[]>) =>
  and(some, onEach(askedForAll, condition, odd))
const queried = (condition: string) => onEach(['files.list', 'files.upload'], condition, ['query'])
const aliased = (condition: string) => onEach(['chat.create', 'vision.analyze', 'pdf.parse'], condition, ['alias'])

/** Kinds of fault of one requirement, each of which a server may take for valid while it refuses the others. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  ...shared(everyOperation, '401-malformed-key', malformedKey),
  ...and(shared(everyOperation, '401-invalid-key', invalidKey), aliased('401-invalid-key')),
  ...oddly('401-missing-credentials', oddPlaces, {
    ...and(
      and(shared(posts, '401-missing-credentials', places), aliased('401-missing-credentials')),
      and(onEach(gets, '401-missing-credentials', spellings), queried('401-missing-credentials')),
    ),
  }),
  ...oddly(
    '401-expired-key',
    ['suffix'],
    and(and(shared(posts, '401-expired-key', places), aliased('401-expired-key')), queried('401-expired-key')),
  ),
  ...oddly(
    '403-insufficient-rights',
    ['suffix'],
    and(
      and(shared(posts.toReversed(), '403-insufficient-rights', places), aliased('403-insufficient-rights')),
      queried('403-insufficient-rights'),
    ),
  ),
  ...shared(operations.json, '400-malformed-json', malformedJson),
  ...shared(operations.json, '400-wrong-content-type', mediaTypes),
  ...shared(
    operations.json.filter((name) => name !== 'jobs.create'),
    '4xx-malformed-body',
    ['string', 'number', 'boolean'],
  ),
  ...onEach(['pdf.parse', 'chat.create'], '4xx-malformed-body', ['string', 'null', 'array', 'array-of-one']),
  'jobs.retrieve/4xx-malformed-id': ['cut', 'appended', 'wildcard'],
  'jobs.retrieve/4xx-unknown-job': ['again', 'another-kind', 'last-digit', 'first-group'],
  'files.retrieve/404-unknown-file': ['another-kind', 'prefix', 'cut', 'appended', 'again'],
  'jobs.create/404-unknown-application': ['cut', 'appended', 'again', 'another-kind'],
  'graphs.create/400-malformed-parameters': ['falsy'],
  'graphs.query/404-unknown-graph': ['cut', 'appended', 'again', 'another-kind'],
  'graphs.add-file/404-unknown-graph': ['cut', 'appended', 'again', 'another-kind'],
  'pdf.parse/4xx-unknown-file': ['deleted', 'cut', 'appended', 'again', 'another-kind'],
  'pdf.parse/400-corrupted-pdf': ['again', 'markdown'],
  'pdf.parse/400-encrypted-pdf': ['markdown'],
  'jobs.create/400-missing-required-inputs': ['none'],
  'jobs.create/400-malformed-inputs': [
    ...['no-id', 'no-value', 'body', 'null', 'string', 'number', 'boolean', 'object', 'item', 'id', 'value', 'text'],
    ...['one-input', 'by-index'],
  ],
  'pdf.parse/400-malformed-format': types.format,
  'pdf.parse/400-unsupported-format': [
    ...['marks', 'invisible', 'nul', 'empty', 'blanks', 'letter-case', 'full-width', 'abbreviation', 'object-member'],
  ],
  'completion.create/400-malformed-request': ['model', 'model-in-array', 'prompt'],
  'completion.create/400-invalid-temperature': types.number,
  'completion.create/400-invalid-max-tokens': types.number,
  'chat.create/400-malformed-messages': [
    ...['object', 'item', 'item-null', 'no-role', 'part', 'part-null', 'content-number', 'content-boolean'],
    ...['content-object', 'one-part', 'by-index'],
    ...['earlier', 'second', 'later-part', 'no-type', 'no-text', 'text-type', 'no-image', 'image-text', 'no-url'],
  ],
  'chat.create/400-invalid-role': ['string', 'number', 'in-array', 'earlier', 'lengthened'],
  'chat.create/400-malformed-tools': [
    ...['item', 'no-type', 'type', 'function', 'empty-function', 'no-model', 'model-type', 'description-type'],
    ...['one-tool', 'second', 'falsy'],
  ],
  'chat.create/400-unsupported-model': ['type', 'lengthened', 'again'],
  'completion.create/400-unsupported-model': ['lengthened', 'again'],
  'files.retrieve/410-deleted-file': ['again'],
  'chat.create/400-malformed-tool-choice': ['number', 'boolean', 'array', 'falsy'],
  'chat.create/400-invalid-stream': ['string', 'number', 'array', 'object'],
  'chat.create/400-invalid-stream-options': ['string', 'number', 'boolean', 'array', 'falsy'],
  'chat.create/400-malformed-response-format': ['string', 'number', 'array', 'falsy'],
  'chat.create/400-query-config': queryConfig,
  'graphs.query/400-query-config': queryConfig,
  'translate.run/400-unsupported-language': ['source', 'target', 'type', 'in-array', 'lengthened', 'form', 'again'],
  'vision.analyze/400-malformed-request': ['prompt', 'variables'],
}

/** Defects `<id>#takes-<kind>`: the server refuses all faults of the requirement but those of one kind. */
export const takenKinds: readonly string[] = Object.entries(kinds).flatMap(([id, names]) =>
  names.map((kind) => `${id}#takes-${kind}`),
)
