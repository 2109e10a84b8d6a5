export function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean)
}

const json = words(`
  pdf.parse jobs.create completion.create chat.create graphs.create graphs.add-file graphs.query applications.create
  ai-detect.run web-search.run medical.comprehend translate.run vision.analyze`)

/** The member without which a request of the operation means nothing. */
export const essential: Readonly<Record<string, string>> = {
  'completion.create': 'prompt',
  'chat.create': 'messages',
  'graphs.add-file': 'file_id',
  'graphs.query': 'query',
  'ai-detect.run': 'input',
  'web-search.run': 'query',
  'medical.comprehend': 'content',
  'translate.run': 'text',
  'vision.analyze': 'prompt',
}

/** Those with a requirement `2xx-accepted`, but `files.list`: without an answer to it a run does not begin. */
const accepting = words(`
  completion.create files.upload files.retrieve graphs.create graphs.add-file graphs.query applications.create
  ai-detect.run web-search.run translate.run vision.analyze`)

/** Operations that make something, and whose success has no shape in the spec. */
export const creations = words('files.upload graphs.create applications.create')

/** Operations that make nothing, whose success has no shape, and of whose answer no client needs a member. */
export const shapeless = ['files.list', ...accepting.filter((name) => !creations.includes(name))]

/** Operations that a table names together. */
export const groups = {
  ALL: [...json, ...words('jobs.retrieve files.upload files.list files.retrieve')],
  GETS: words('jobs.retrieve files.list files.retrieve'),
  POSTS: [...json, 'files.upload'],
  /** Those with a JSON body. */
  JSON: json,
  /** Those of them whose body may be wrong as a whole by a requirement of its own. */
  OBJECTS: json.filter((name) => name !== 'jobs.create'),
  /** Those whose request means nothing without one member. */
  ESSENTIAL: Object.keys(essential),
  ACCEPTING: accepting,
}

/** Conditions that a table names together: each fault of credentials that a place of its own may hide. */
const conditions: Readonly<Record<string, readonly string[]>> = {
  ONBODY: words('400-malformed-json 400-wrong-content-type 4xx-malformed-body 4xx-missing-member'),
  ONCHAT: words(`
    400-query-config 400-malformed-messages 400-invalid-role 400-unsupported-model 400-malformed-tools
    400-malformed-tool-choice 400-invalid-stream 400-invalid-stream-options 400-malformed-response-format`),
  CREDENTIALS: words(
    '401-missing-credentials 401-invalid-key 401-expired-key 403-insufficient-rights',
  ),
}

/**
 * Rows of a table, a line each: what a row is about, and the names behind it. `a,b/c` is about `a/c` and about `b/c`; a
 * word in capitals stands for a group of operations, or of conditions.
 */
export function rows<Name extends string>(
  table: string,
): (readonly [about: string, names: readonly Name[]])[] {
  return table.split('\n').flatMap((line) => {
    const [first, ...names] = words(line)
    if (first === undefined) return []
    const [operations = '', condition] = first.split('/')
    const expanded = operations
      .split(',')
      .flatMap((name) => (groups as Record<string, string[]>)[name] ?? [name])
    const about =
      condition === undefined
        ? ['']
        : (conditions[condition] ?? [condition]).map((name) => `/${name}`)
    return expanded.flatMap((operation) =>
      about.map((name) => [operation + name, names as Name[]] as const),
    )
  })
}

/** Names in a table: of each row what it is about, the mark and a name; for the name `-` only what it is about. */
export function named(mark: string, table: string): string[] {
  return rows(table).flatMap(([about, names]) =>
    names.map((name) => (name === '-' ? about : about + mark + name)),
  )
}
