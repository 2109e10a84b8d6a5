import { refusedByScenario } from './declared/scenarios.ts'

export function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

/**
 * Each operation: `json` body; `needs:` the member that a request needs to be meaningful; `accepted`: its success has a
 * requirement `2xx-accepted`, and no shape in the spec; `makes` something; `generates` by a model; its own refusals.
 */
const operations = lines(`
  pdf.parse           json 400-missing-body 400-missing-format 400-unsupported-format 400-malformed-format
  pdf.parse           400-corrupted-pdf 400-encrypted-pdf 400-oversized-pdf 4xx-unknown-file 4xx-removed
  jobs.create         json 400-missing-body 400-missing-inputs 400-missing-required-inputs 400-malformed-inputs
  jobs.create         404-unknown-application 409-job-in-progress
  completion.create   json accepted generates needs:prompt 400-unsupported-model 400-malformed-request
  completion.create   400-empty-prompt 400-bad-encoding 400-invalid-temperature 400-invalid-max-tokens
  completion.create   400-invalid-parameter
  chat.create         json generates needs:messages 400-query-config 400-malformed-messages 400-invalid-role
  chat.create         400-unsupported-model 400-malformed-tools 400-malformed-tool-choice
  chat.create         400-invalid-stream 400-invalid-stream-options 400-malformed-response-format
  graphs.create       json accepted makes 400-malformed-parameters 400-duplicate-name
  graphs.add-file     json accepted needs:file_id 404-unknown-graph 409-already-in-graph 4xx-unknown-file
  graphs.query        json accepted generates needs:query 400-query-config 400-malformed-parameters 404-unknown-graph
  applications.create json accepted makes 400-malformed-parameters 400-duplicate-name
  ai-detect.run       json accepted needs:input 400-empty-text 400-malformed-text
  web-search.run      json accepted needs:query 400-empty-query 400-malformed-query
  medical.comprehend  json needs:content 400-malformed-request
  translate.run       json accepted generates needs:text 400-unsupported-language 400-empty-text 400-malformed-text
  vision.analyze      json accepted generates needs:prompt 400-malformed-request 4xx-unknown-file
  jobs.retrieve       4xx-unknown-job 4xx-malformed-id
  files.upload        accepted makes 4xx-unknown-graph
  files.list          accepted
  files.retrieve      accepted 404-unknown-file 410-deleted-file`)

const ids = [...new Set(operations.map((line) => line.subject))]

const saying = (word: string): string[] =>
  ids.filter((id) => operations.some((line) => line.subject === id && line.words.includes(word)))

export const essential: Readonly<Record<string, string>> = Object.fromEntries(
  operations.flatMap((line) =>
    line.words.flatMap((word) =>
      word.startsWith('needs:') ? [[line.subject, word.slice(6)]] : [],
    ),
  ),
)

export const ownRefusals: readonly string[] = operations.flatMap((line) =>
  line.words.filter((word) => /^\d/.test(word)).map((word) => `${line.subject}/${word}`),
)

export const generating = saying('generates')

export const creations = saying('makes')

/**
 * Operations that create nothing, whose success has no shape, and whose answer contains nothing that a client needs.
 */
export const shapeless = saying('accepted').filter((id) => !creations.includes(id))

const json = saying('json')

const groups: Readonly<Record<string, readonly string[]>> = {
  ALL: ids,
  JSON: json,
  /** Those whose body as a whole has a requirement of its own. */
  OBJECTS: json.filter((id) => id !== 'jobs.create'),
  ESSENTIAL: Object.keys(essential),
  /** Without an answer to `files.list`, a run does not begin. */
  ACCEPTING: saying('accepted').filter((id) => id !== 'files.list'),
}

function lines(table: string): { readonly subject: string; readonly words: string[] }[] {
  return table.split('\n').flatMap((line) => {
    const [subject, ...others] = words(line)
    return subject === undefined ? [] : [{ subject, words: others }]
  })
}

/**
 * Names from a table. A line has a subject and words; each word makes the name subject + mark + word, and `-` the subject
 * alone. `a,b/c` is about `a/c` and `b/c`; a word in capitals stands for a group of operations.
 */
export function named(mark: string, table: string): string[] {
  return lines(table).flatMap((line) => {
    const [operations = '', condition] = line.subject.split('/')
    return operations
      .split(',')
      .flatMap((name) => groups[name] ?? [name])
      .map((operation) => (condition === undefined ? operation : `${operation}/${condition}`))
      .flatMap((about) => line.words.map((name) => (name === '-' ? about : about + mark + name)))
  })
}

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
  jobs.create/409-job-in-progress       parallel identical-only slow-only plain-only preloaded-only other other-unlike failing as-many-inputs
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
  files.upload/2xx-retrievable          - gone 5xx early late forbidden last-only at-once in-graph attached pdf odd-name
  files.upload/2xx-attached-to-graph    - refused first-graph replaces other-status
  files.list/2xx-file-types             - 5xx two two-5xx two-none-5xx unknown-5xx none-5xx
  files.list/2xx-accepted               - envelope many empty-file name
  files.list/2xx-filtered               - two in-name
  files.retrieve/2xx-own-record         -
  jobs.retrieve/4xx-malformed-id        object-member
  files.list/429-quota-exceeded         granted-envelope
  graphs.create,applications.create/2xx-usable - gone 5xx early late last-only at-once asked-twice
  graphs.create/2xx-usable              additions unfilled
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
  chat.create/200-llm-tool              - missing content
  chat.create/200-query-config          - bounds parts together absent
  chat.create/bad-input-no-5xx          graph-tool
  medical.comprehend/200-entities       - spelling no-answer closed no-http
  guardrails/400-blocked                extras
  envelope/shape                        - no-tpe array
  envelope/status-tpe-pair              - unknown-name file
  envelope/content-type                 - success missing
  envelope/message-keys                 - not-found forbidden
  envelope/unknown-path                 - 5xx page empty granted escape
  envelope/unsupported-method           - 5xx page empty
  envelope/bad-input-no-5xx             - text empty-query doubled-query unnamed-upload
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

/**
 * All variants: other ways to conform. Several may be on at once if they do not affect the same thing. `settling/...`,
 * `jobs/readable-late` and `slow/refusals` take as long as the options say. With switches such as `pdf-removed`, the target
 * must declare the operation as removed.
 */
export const variants: readonly string[] = named(
  '/',
  `
    json          additional-members members-reversed spread
    envelope      no-errors bare-errors without-key without-description without-item-extras
    envelope      unlisted-keys keys-of-kind several-errors full-extras other-language
    headers       charset odd-content-type many
    connection    chunked closed closed-unannounced short-lived reset-when-reused
    compressed    gzip deflate br
    successes     no-content plain-text empty other-2xx json-scalar accepted-creations no-content-creations
    answers       large huge
    lists         bare-array
    aliases       404 405 page-404
    spellings     served redirected refused page
    names         optional
    order         body-first existence-first existence-before-body state-first rights-last
    jobs          no-optional-members all-members updated-before-created updated-when-created updated-at-moves
    jobs          born-completed born-failed instant fail-now-and-then readable-late
    jobs          texts-limited values-limited others-now-and-then
    uuids         upper-case upper-case-in-creation upper-case-in-retrieval
    dates         offset negative-offset unknown-offset long-fraction short-fraction whole-seconds
    dates         lower-case coarser-in-retrieval two-readings two-readings-earlier
    clock         hours-behind hours-ahead
    ids           numeric json-number int64 long upper-case
    requests      unknown-members-rejected nulls-rejected values-coerced
    generation    empty varying blocked-now-and-then input-blocked-now-and-then
    generation    model-fails-now-and-then provider-blocked-now-and-then
    models        other-statuses
    tokens        below-zero-granted below-zero-bad-request
    processing    slow
    settling      uploads graphs applications
    graphs        empty-not-queried
    keys          told-by-parts
    applications  inputs-demanded
    slow          refusals
    files         known-by-content refused-twice unique-names
    throttled     429 429-seconds 429-date 503 503-seconds
    unknown-path  400 401 403
    methods       400 405 lists
    pdf-removed,pdf-removed-404,pdf-removed-page-404,pdf-removed-page-410 -`,
)

type Table<Entry> = Readonly<Record<string, Entry>>

export type Switches = ReturnType<typeof createSwitches>

function checked(kind: string, known: readonly string[], names: Iterable<string>): Set<string> {
  const chosen = new Set(names)
  for (const name of chosen)
    if (!known.includes(name)) throw new Error(`the reference has no ${kind} "${name}"`)
  return chosen
}

function firstOn<Entry>(table: Table<Entry>, isOn: (name: string) => boolean): Entry | undefined {
  const name = Object.keys(table).find(isOn)
  return name === undefined ? undefined : table[name]
}

/** @throws Error on an unknown name */
export function createSwitches(defectNames: Iterable<string>, variantNames: Iterable<string>) {
  const on = checked('defect', defects, defectNames)
  const ways = checked('variant', variants, variantNames)
  const broken = (defect: string): boolean => on.has(defect)
  const varied = (variant: string): boolean => ways.has(variant)
  return {
    broken,
    varied,
    /** Whether any switch with that prefix is on: a quick test before asking for many. */
    hasSome: (beginning: string): boolean =>
      [...on, ...ways].some((name) => name.startsWith(beginning)),
    /** The first entry of a table whose defect `<beginning><entry>` is on. */
    brokenOf: <Entry>(beginning: string, table: Table<Entry>): Entry | undefined =>
      firstOn(table, (name) => broken(beginning + name)),
    /** The first entry of a table whose variant `<beginning><entry>` is on. */
    variedOf: <Entry>(beginning: string, table: Table<Entry>): Entry | undefined =>
      firstOn(table, (name) => varied(beginning + name)),
    /** Whether a defect `<beginning><case>` is on in whose case the caller is. */
    brokenIn: (beginning: string, cases: Readonly<Record<string, boolean>>): boolean =>
      Object.entries(cases).some(([name, isCase]) => isCase && broken(beginning + name)),
  }
}

/**
 * Whether a switch only has an effect on a socket, so that `createReference` refuses it: connections, and encodings
 * that clients handle below HTTP. `#no-answer` works without a socket.
 */
export function needsSocket(name: string): boolean {
  return /^(?:connection|compressed)\/|#(?:closed|dropped|no-http|spoils-connection)$/.test(name)
}
