import { refusedByScenario } from '../declared/scenarios.ts'
import { groups, named, ownRefusals, words } from './table.ts'

/** Ids of the requirements that want a request refused, all of which go through `Call.refuse`. */
export const refusals: readonly string[] = [
  ...named(
    '/',
    `
    ALL                 401-missing-credentials 401-malformed-key 401-invalid-key 401-expired-key 403-insufficient-rights
    JSON                400-malformed-json 400-wrong-content-type
    OBJECTS             4xx-malformed-body
    ESSENTIAL           4xx-missing-member`,
  ),
  ...ownRefusals,
  ...refusedByScenario,
]

/** The kinds shared out among the operations: each on one of so many, and each operation has some. */
function shared(
  operations: readonly string[],
  condition: string,
  kinds: readonly string[],
): string[] {
  const apart = Math.ceil(kinds.length / 3)
  return operations.flatMap((name, at) =>
    kinds
      .filter((_, kind) => kind % apart === at % apart)
      .map((kind) => `${name}/${condition}#takes-${kind}`),
  )
}

// Where a server may look at the key less closely than at the path of the operation.
const places = words('slash double-slash path-parameter upper-case no-body')

const bounded = words(
  'search_weight max_subquestions grounding_level max_tokens keyword_threshold semantic_threshold',
)
// Whether more or fewer snippets than recommended are a fault is not told (§2.7): nobody sends them.
const queryConfig = [
  ...bounded.flatMap((name) => [`${name}-low`, `${name}-high`]),
  ...[...bounded, 'max_snippets'].flatMap((name) => [
    `${name}-string`,
    `${name}-array`,
    `${name}-object`,
  ]),
  ...words(
    'search_weight-far grounding_level-near keyword_threshold-far max_tokens-wrapped inline_citations',
  ),
  ...words('whole-string whole-number whole-array whole-falsy'),
]

/**
 * Defects `<id>#takes-<kind>`: the server takes one kind of fault of the requirement for valid, and refuses all others.
 * A router takes an odd spelling everywhere or nowhere: not each operation is asked for each of them.
 */
export const takenKinds: readonly string[] = [
  ...shared(
    groups.ALL,
    '401-malformed-key',
    words('no-scheme other-scheme bearer-alone null word'),
  ),
  ...shared(
    groups.ALL,
    '401-invalid-key',
    words(`cut appended letter-case signature signature-end other-payload other-header no-signature
      alg-none alg-none-cut alg-none-signed moved-exp other-subject
      alg-none-mixed alg-unknown alg-absent empty-secret jwk`),
  ),
  ...shared(groups.POSTS, '401-missing-credentials', places),
  ...shared(groups.POSTS, '401-expired-key', places),
  ...shared(groups.POSTS.toReversed(), '403-insufficient-rights', places),
  ...shared(
    groups.JSON,
    '400-malformed-json',
    words(
      'cut comma text-after-end second-document comment hash nan number single-quotes unquoted line-end tab',
    ),
  ),
  ...shared(groups.JSON, '400-wrong-content-type', [
    ...['text/plain', 'text/plain; format=json', 'application/xml', 'application/octet-stream'],
    ...['application/x-www-form-urlencoded', 'multipart/form-data'],
  ]),
  ...named(
    '#takes-',
    `
    GETS/401-missing-credentials                                slash double-slash path-parameter upper-case
    files.retrieve,jobs.retrieve/401-missing-credentials        again
    files.list,files.upload/CREDENTIALS                         query
    chat.create,vision.analyze,pdf.parse/CREDENTIALS            alias
    pdf.parse,chat.create/CREDENTIALS                           other-body
    chat.create/CREDENTIALS                                     with-tools
    jobs.retrieve/CREDENTIALS                                   uuid-case
    pdf.parse,jobs.create,jobs.retrieve/401-malformed-key       six-letter-scheme no-blank text-after three-parts
    pdf.parse,jobs.create,jobs.retrieve/401-invalid-key         fourth-part alg-none-capitals
    pdf.parse,jobs.create,jobs.retrieve/401-missing-credentials suffix percent-encoded query forwarded no-user-agent
    pdf.parse,jobs.create/401-missing-credentials               multipart
    pdf.parse,jobs.create,jobs.retrieve/401-expired-key         suffix
    pdf.parse,jobs.create,jobs.retrieve/403-insufficient-rights suffix
    pdf.parse,chat.create/4xx-malformed-body                    string null array array-of-one
    UNSHOWN/4xx-malformed-body                 string number boolean
    jobs.retrieve/4xx-malformed-id             cut appended wildcard
    jobs.retrieve/4xx-unknown-job              again another-kind first-digit last-digit first-group
    files.retrieve/404-unknown-file            another-kind prefix cut appended again
    files.retrieve/410-deleted-file            again
    jobs.create/404-unknown-application        cut appended again another-kind
    graphs.query,graphs.add-file/404-unknown-graph cut appended again another-kind
    graphs.create/400-malformed-parameters     falsy
    pdf.parse/4xx-unknown-file                 deleted cut appended again another-kind
    pdf.parse/400-corrupted-pdf                again markdown
    pdf.parse/400-encrypted-pdf                markdown
    pdf.parse/400-malformed-format             null number boolean array object
    pdf.parse/400-unsupported-format           marks invisible nul empty blanks letter-case full-width abbreviation
    pdf.parse/400-unsupported-format           object-member
    jobs.create/400-missing-required-inputs    none
    jobs.create/400-malformed-inputs           no-id no-value body null string number boolean object item id value text
    jobs.create/400-malformed-inputs           by-index
    completion.create/400-malformed-request    model model-in-array prompt
    completion.create/400-invalid-temperature  string boolean array object
    completion.create/400-invalid-max-tokens   string boolean array object
    completion.create/400-unsupported-model    lengthened again object-member
    chat.create/400-unsupported-model          type lengthened again object-member
    chat.create/400-malformed-messages         object item item-null no-role part part-null by-index
    chat.create/400-malformed-messages         content-number content-boolean content-object earlier second later-part
    chat.create/400-malformed-messages         no-type no-text text-type no-image image-text no-url
    chat.create/400-invalid-role               string number in-array earlier lengthened object-member
    chat.create/400-malformed-tools            item no-type type function empty-function no-model model-type
    chat.create/400-malformed-tools            description-type second falsy
    chat.create/400-malformed-tool-choice      number boolean array falsy
    chat.create/400-invalid-stream             string number array object
    chat.create/400-invalid-stream-options     string number boolean array falsy
    chat.create/400-malformed-response-format  string number array falsy
    translate.run/400-unsupported-language     source target type in-array lengthened form again object-member
    vision.analyze/400-malformed-request       prompt variables variable name file-id later
    medical.comprehend/400-malformed-request   content response-type
    vision.analyze,graphs.add-file/4xx-unknown-file deleted unknown
    ESSENTIAL/4xx-missing-member               member no-body
    chat.create,vision.analyze/ONBODY          other-path
    chat.create/ONCHAT                         other-path
    vision.analyze/400-malformed-request       other-path
    vision.analyze/4xx-unknown-file            other-path
    chat.create,graphs.query/400-query-config  ${queryConfig.join(' ')}`,
  ),
]

/** The kinds of fault that a request has, of those told. */
export function kindsIf(holds: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(holds).filter((kind) => holds[kind])
}
