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

const ids = [...new Set(operations.map(([id]) => id))]

const saying = (word: string): string[] =>
  ids.filter((id) => operations.some(([of, said]) => of === id && said.includes(word)))

export const essential: Readonly<Record<string, string>> = Object.fromEntries(
  operations.flatMap(([id, said]) =>
    said.flatMap((word) => (word.startsWith('needs:') ? [[id, word.slice(6)]] : [])),
  ),
)

export const ownRefusals: readonly string[] = operations.flatMap(([id, said]) =>
  said.flatMap((word) => (/^\d/.test(word) ? [`${id}/${word}`] : [])),
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

function lines(table: string): (readonly [first: string, others: readonly string[]])[] {
  return table.split('\n').flatMap((line) => {
    const [first, ...others] = words(line)
    return first === undefined ? [] : [[first, others] as const]
  })
}

/**
 * Names from a table. A line has a subject and words; each word makes the name subject + mark + word, and `-` the subject
 * alone. `a,b/c` is about `a/c` and `b/c`; a word in capitals stands for a group of operations.
 */
export function named(mark: string, table: string): string[] {
  return lines(table).flatMap(([first, names]) => {
    const [operations = '', condition] = first.split('/')
    return operations
      .split(',')
      .flatMap((name) => groups[name] ?? [name])
      .map((operation) => (condition === undefined ? operation : `${operation}/${condition}`))
      .flatMap((about) => names.map((name) => (name === '-' ? about : about + mark + name)))
  })
}
