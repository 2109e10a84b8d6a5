import { named, ownRefusals } from './table.ts'
import { refusedByScenario } from '../declared/scenarios.ts'

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

/**
 * Defects of valid requests, and further defects of refusals. The code looks them up by name; `-` is the defect without a variant.
 */
const placed: readonly string[] = named(
  '#',
  `
  jobs.create/202-created               - id created-at later answer-lost
  jobs.create/202-created               second-5xx created-application busy-when-made fewer-inputs no-answer closed no-http
  jobs.create/202-retrievable           - late
  jobs.create/202-required-inputs-only  - 5xx
  jobs.create/202-any-text              - emoji nul backslash empty blank line-ends digits object-member
  jobs.create/400-malformed-json        spoils-connection
  jobs.create/409-job-in-progress       parallel identical-only slow-only plain-only preloaded-only other failing as-many-inputs
  jobs.create/409-job-in-progress       answered-again at-once-only later-only unread-only read-only
  jobs.create/409-released              - slow after-failed after-third late created
  jobs.create/409-per-application       -
  jobs.create/409-atomic                - short slow-only same-only
  jobs.create/4xx-no-effect             - starts-job blocks unauthorized required-input other-key forbidden content-type
  jobs.create/4xx-no-effect             locks later unknown
  jobs.retrieve/200-job                 - data error status ended-status id declared-job second-5xx no-answer closed no-http
  jobs.retrieve/200-identity            - id one-id newest-job newest-only newest-data
  jobs.retrieve/200-identity            other-application slow-application failing-application declared-job
  jobs.retrieve/200-created-at          - drifting same-for-all backwards newest-job
  jobs.retrieve/200-consistent          - data error completed-before long-ago
  jobs.retrieve/200-outcome             - slow failing
  jobs.retrieve/200-failed              -
  jobs.retrieve/200-stable              - status newest-status declared-job
  pdf.parse/200-text                    - status spelling no-answer closed no-http
  pdf.parse/200-markdown                - status no-answer closed no-http
  pdf.parse/200-content                 - bytes constant empty half scrambled text markdown numbers ascii at-once
  pdf.parse/200-content                 first first-page size name
  completion.create/400-wrong-content-type spoils-connection
  files.upload/413-body-too-large       spoils-connection
  files.upload/2xx-retrievable          - gone 5xx early late forbidden last-only at-once in-graph attached pdf
  files.upload/2xx-attached-to-graph    - refused first-graph all-graphs replaces other-status
  files.list/2xx-file-types             - 5xx two two-5xx two-none-5xx unknown-5xx none-5xx
  files.list/2xx-accepted               - envelope many empty-file name
  files.list/2xx-filtered               - two
  files.retrieve/2xx-own-record         -
  jobs.retrieve/4xx-malformed-id        object-member
  files.list/429-quota-exceeded         granted-envelope
  graphs.create,applications.create/2xx-usable - gone 5xx early late last-only at-once asked-twice
  graphs.create/2xx-usable              additions
  files.upload,graphs.create,applications.create/2xx-own-id - at-once
  files.upload/2xx-own-id               name
  graphs.create,graphs.add-file,applications.create/4xx-no-effect - forbidden content-type
  applications.create/4xx-no-effect     blueprint
  graphs.create,applications.create/400-atomic - breaks
  graphs.create,applications.create/400-duplicate-name third latest-only few-known
  graphs.create/400-duplicate-name      used
  graphs.add-file/409-already-in-graph  third latest-only few-known dropped created emptied same-name
  graphs.add-file/2xx-accepted          many added-400 added-404 always-409 one-file
  graphs.query/2xx-query-config         - bounds together empty defaults
  ACCEPTING/2xx-accepted                - envelope no-answer closed no-http
  files.upload,graphs.create,applications.create/2xx-accepted first-only
  graphs.create,applications.create/2xx-accepted later-400
  ai-detect.run,translate.run,vision.analyze/2xx-accepted once
  ai-detect.run/2xx-accepted            after-refusal
  web-search.run/2xx-accepted           every-sixth
  pdf.parse/200-text                    every-third
  files.upload/2xx-accepted             pdf
  graphs.query,vision.analyze/2xx-accepted spelling
  chat.create/200-completion            - no-answer closed no-http
  chat.create/200-text-parts            - echoed two three type-first spelling
  chat.create/200-image-parts           - echoed
  chat.create/200-image-url             - echoed
  chat.create/200-tool-choice-auto      - parts
  chat.create/200-structured-output     - schema
  chat.create/200-llm-tool              - missing
  chat.create/200-query-config          - bounds parts together absent
  medical.comprehend/200-entities       - spelling no-answer closed no-http
  guardrails/400-blocked                extras
  envelope/shape                        - no-tpe array
  envelope/status-tpe-pair              - unknown-name file
  envelope/content-type                 - success missing
  envelope/message-keys                 - not-found forbidden
  envelope/unknown-path                 - 5xx page empty granted escape
  envelope/unsupported-method           - 5xx page empty
  envelope/bad-input-no-5xx             - text empty-query doubled-query
  envelope/large-body                   - one-path upload closed
  envelope/charset-parameter            - one-path creations`,
)

/**
 * All defects. A defect has the id of the requirement that it breaks; further ones are `<id>#<variant>`: `#tpe` refuses
 * with another code name of the same status; `#no-answer`, `#closed` and `#no-http` give no answer,
 * `#spoils-connection` a wrong one to the next request.
 */
export const defects: readonly string[] = [
  ...refusals,
  'jobs.create/404-unknown-application#tpe',
  ...placed,
  ...named('/', 'JSON bad-input-no-5xx'),
]
