import { allowsAnyName, allowsAnyStatus } from './pairs.ts'
import { named, groups, ownRefusals, words } from './table.ts'
import { refusedByScenario } from '../declared/scenarios.ts'

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

/** Defects of granted requests, and more of refusals. The code that they change asks for them by name; `-`: the one without a variant. */
const placed: readonly string[] = named(
  '#',
  `
  jobs.create/202-created               - id no-id job-status no-job-status created-at no-created-at later answer-lost
  jobs.create/202-created               second-5xx created-application busy-when-made fewer-inputs no-answer closed no-http
  jobs.create/202-retrievable           - late
  jobs.create/202-required-inputs-only  - 5xx
  jobs.create/202-any-text              - emoji nul backslash empty blank line-ends digits object-member
  jobs.create/400-malformed-json        spoils-connection
  jobs.create/400-missing-inputs        no-answer closed no-http
  jobs.create/400-malformed-inputs      ignores-item-null ignores-item-boolean ignores-item-number ignores-item-string
  jobs.create/400-malformed-inputs      ignores-item-array ignores-id-null ignores-id-boolean ignores-id-number
  jobs.create/400-malformed-inputs      ignores-id-array ignores-id-object ignores-later-items ignores-later-texts ignores-further-items
  jobs.create/409-job-in-progress       parallel identical-only slow-only plain-only preloaded-only other failing as-many-inputs
  jobs.create/409-job-in-progress       answered-again at-once-only later-only unread-only read-only
  jobs.create/409-released              - slow after-failed after-third late created
  jobs.create/409-per-application       -
  jobs.create/409-atomic                - short slow-only same-only
  jobs.create/4xx-no-effect             - starts-job blocks unauthorized required-input other-key forbidden content-type
  jobs.create/4xx-no-effect             locks later unknown
  jobs.retrieve/200-job                 - updated-at updated-at-blank updated-at-offset updated-at-colon completed-at
  jobs.retrieve/200-job                 data data-array error null-members status ended-status id no-application-id
  jobs.retrieve/200-job                 no-created-at second-5xx no-answer closed no-http
  jobs.retrieve/200-job                 other-application slow-application failing-application declared-job
  jobs.retrieve/200-identity            - id one-id newest-job newest-only newest-data
  jobs.retrieve/200-identity            other-application slow-application failing-application declared-job
  jobs.retrieve/200-created-at          - drifting same-for-all backwards newest-job
  jobs.retrieve/200-created-at          other-application slow-application failing-application
  jobs.retrieve/200-consistent          - data error completed-before long-ago
  jobs.retrieve/200-outcome             - slow failing
  jobs.retrieve/200-failed              - error
  jobs.retrieve/200-stable              - status newest-status
  jobs.retrieve/200-stable              other-application slow-application failing-application declared-job
  pdf.parse/200-text                    - missing status spelling no-answer closed no-http
  pdf.parse/200-markdown                - missing status no-answer closed no-http
  pdf.parse/200-content                 - bytes constant empty half scrambled text markdown numbers ascii at-once
  pdf.parse/200-content                 first first-page size name
  pdf.parse/400-missing-format          remembered
  completion.create/400-empty-prompt    no-answer closed no-http
  completion.create/400-wrong-content-type spoils-connection
  files.retrieve/404-unknown-file       no-answer closed no-http
  files.upload/413-body-too-large       spoils-connection
  files.upload/2xx-retrievable          - gone 5xx late forbidden last-only at-once in-graph attached pdf
  files.upload/2xx-attached-to-graph    - refused first-graph all-graphs replaces other-status
  files.list/2xx-file-types             - 5xx two two-5xx unknown-5xx none-5xx
  files.list/2xx-accepted               - envelope many empty-file
  files.list/2xx-filtered               -
  files.retrieve/2xx-own-record         -
  files.list/429-quota-exceeded         granted-envelope
  graphs.create,applications.create/2xx-usable - gone 5xx late last-only at-once asked-twice
  graphs.create/2xx-usable              additions
  files.upload,graphs.create,applications.create/2xx-own-id - at-once
  files.upload/2xx-own-id               name
  graphs.create,graphs.add-file,applications.create/4xx-no-effect - forbidden content-type
  applications.create/4xx-no-effect     blueprint
  graphs.create,applications.create/400-atomic - breaks
  graphs.create,applications.create/400-duplicate-name third latest-only few-known
  graphs.create/400-duplicate-name      used
  graphs.add-file/409-already-in-graph  third latest-only few-known dropped created emptied
  graphs.add-file/2xx-accepted          many added-400 added-404 always-409 one-file
  graphs.query/2xx-query-config         - bounds together empty defaults
  ACCEPTING/2xx-accepted                - envelope no-answer closed no-http
  files.upload,graphs.create,applications.create/2xx-accepted first-only
  graphs.create,applications.create/2xx-accepted later-400
  ai-detect.run,translate.run,vision.analyze/2xx-accepted once
  ai-detect.run/2xx-accepted            after-refusal
  files.upload/2xx-accepted             pdf
  graphs.query,vision.analyze/2xx-accepted spelling
  chat.create/200-completion            - no-choices empty-choices no-answer closed no-http
  chat.create/200-text-parts            - echoed two type-first spelling
  chat.create/200-image-parts           - echoed
  chat.create/200-image-url             - echoed
  chat.create/200-tool-choice-auto      - parts
  chat.create/200-structured-output     - schema
  chat.create/200-llm-tool              - model missing
  chat.create/200-query-config          - bounds parts together absent
  medical.comprehend/200-entities       - traits missing spelling no-answer closed no-http
  guardrails/400-blocked                extras
  envelope/shape                        - no-errors errors-object errors-text description-number key-number
  envelope/shape                        item-extras-text extras-array extras-null no-tpe tpe-number array
  envelope/status-tpe-pair              - unknown-name file
  envelope/content-type                 - success missing
  envelope/message-keys                 - not-found forbidden
  envelope/unknown-path                 - 5xx page empty granted escape
  envelope/unsupported-method           - 5xx page empty
  envelope/bad-input-no-5xx             - text empty-query doubled-query
  envelope/large-body                   - one-path upload closed
  envelope/charset-parameter            - one-path creations`,
)

/** Servers that break on bad input which no other requirement names: on things in a body that is JSON, or on its form. */
const breaking: readonly string[] = named(
  '/bad-input-no-5xx#',
  `
  completion.create    coercible null-member negative zero huge infinite fraction
  chat.create          line-end empty-array empty-object repeated unknown-word alone
  pdf.parse            member-names
  jobs.create          surrogate 64-kib
  graphs.create        surrogate long
  graphs.add-file      empty-text nested unknown-id deleted-id
  graphs.query         nul huge infinite byte-order-mark
  applications.create  deep-member nul empty-text empty-object no-content-type
  ai-detect.run        nul blank
  web-search.run       absent-member line-end member-names no-content-type object-member
  medical.comprehend   null-body nested unknown-word no-members
  translate.run        empty-body surrogate blank byte-order-mark no-members object-member equal
  vision.analyze       long empty-text empty-array repeated later-item later-absent unknown-id deleted-id`,
)

function ofRefusal(id: string): readonly string[] {
  return [
    id,
    ...(allowsAnyStatus(id) ? [`${id}#5xx`] : [`${id}#status`]),
    ...(allowsAnyName(id) ? [] : [`${id}#tpe`]),
  ]
}

/**
 * Every defect that the reference can have. A defect is named like the requirement that it breaks, further ones for the
 * same requirement `<id>#<variant>`: `#status` refuses with another status, `#tpe` with another code name of the same,
 * `#takes-<kind>` lets one kind of fault pass, `#ignores-<kind>` leaves one out of account and looks at the rest;
 * `#no-answer`, `#closed` and `#no-http` give no answer, `#spoils-connection` a wrong one to the next request.
 */
export const defects: readonly string[] = [
  ...refusals.flatMap(ofRefusal),
  ...takenKinds,
  ...placed,
  ...named('/', 'JSON bad-input-no-5xx'),
  ...breaking,
]
