import { existsSync } from 'node:fs'
import { dirname, extname, join, relative, resolve, sep } from 'node:path'
import { type OperationId, operations } from '../../catalogue/operations.ts'
import { UserError } from '../../harness/user-error.ts'
import { mergedExamples, type Step } from '../../reporters/view/next-steps.ts'
import { compactJson } from '../../reporters/view/writing.ts'
import { isObject } from '../../schemas/json.ts'

export interface Answers {
  readonly name: string
  readonly baseUrl: string
  readonly keyVariable: string
  readonly notServed: readonly OperationId[]
  readonly application?: {
    readonly id: string
    readonly inputs: readonly { id: string; value: string[] }[]
  }
  /** What a run was missing; undefined without a run. */
  readonly steps?: readonly Step[]
}

const modules = ['.ts', '.mts', '.js', '.mjs']

/** Whether a target file of that name is a module; throws UserError for another extension. */
export function isModule(file: string): boolean {
  const extension = extname(file)
  if (extension === '.json') return false
  if (modules.includes(extension)) return true
  throw new UserError(`${file}: a target file ends in .json, ${modules.join(', ')}`)
}

/** A commented target file that works as it is: known values as members, the rest as comments. */
export function starter(file: string, answers: Answers): string {
  const { name, baseUrl, steps } = answers
  const parts = [
    `// What the reports call the target.\n${member('name', name)}`,
    `// http or https; may have a path. No key belongs here.\n${member('baseUrl', baseUrl)}`,
    '// Sent with every request.\n// "headers": {"x-tenant": {"env": "TENANT"}},',
    ...(steps ? lackedParts(answers, steps) : usualParts(answers)),
    unreachable,
    limits,
  ]
  const body = parts.map((part) => part.replaceAll(/^/gm, '  ')).join('\n\n')
  if (!isModule(file)) return `{\n${schemaLine(file)}${body}\n}\n`
  return `import { defineTarget } from 'ai-content-conformance'\n\nexport default defineTarget({\n${body}\n})\n`
}

const schemaPath = 'node_modules/ai-content-conformance/schemas/target.schema.json'

function schemaLine(file: string): string {
  const folder = dirname(resolve(file))
  for (let above = folder; ; above = dirname(above)) {
    const found = join(above, schemaPath)
    if (existsSync(found)) {
      const path = relative(folder, found).replaceAll(sep, '/')
      return `  "$schema": "${path.startsWith('.') ? path : `./${path}`}",\n\n`
    }
    if (above === dirname(above)) return ''
  }
}

function member(name: string, value: unknown, width = 90): string {
  return `${JSON.stringify(name)}: ${compactJson(value, width)},`
}

function usualParts({ application, keyVariable, notServed }: Answers): string[] {
  const keys = member('keys', { full: { env: keyVariable } })
  const absent = Object.fromEntries(notServed.map((id) => [id, 'not-served']))
  return [
    `// The key with full rights: a string, {"env": "NAME"}, {"file": "path"} or {"command": [...], "ttlSeconds": 300}.
// Also of use: "expired" (was valid once) and "restricted" (valid, without permission).
${keys}`,
    `// Objects on the target. The application is needed for jobs.create and jobs.retrieve: jobs are created on it.
${application ? `${otherResources}\n${member('resources', { application })}` : resources}`,
    notServed.length > 0 ? `${servedOnes}\n${member('operations', absent)}` : exampleOperations,
    scenarios,
  ]
}

const otherResources =
  '// Others: otherApplication, slowApplication, failingApplication, job, pdfFile, corruptedPdfFile, encryptedPdfFile, oversizedPdfFile, file, deletedFile, graph.'

const resources = `// "resources": {
//   "application": {
//     "id": "an-application",
//     "inputs": [{"id": "topic", "value": ["tea"]}],
//     "requiredInputs": ["topic"]
//   },
//   "slowApplication": {
//     "id": "one-whose-jobs-take-a-second",
//     "inputs": [{"id": "topic", "value": ["tea"]}]
//   },
//   "file": "id-of-a-file",
//   "deletedFile": "id-of-a-file-that-was-deleted",
//   "graph": "id-of-a-graph"
// },`

const servedOnes = `// What the target does not serve is not applicable. Of the others, give a request known to succeed:
// "completion.create": {"body": {"model": "m-1", "prompt": "Hello"}, "fields": {"prompt": "/prompt"}}`

const exampleOperations = `// Requests known to succeed, for operations whose payloads the interface does not show; or "not-served".
// "operations": {
//   "completion.create": {
//     "body": {"model": "m-1", "prompt": "Hello"},
//     "fields": {"model": "/model", "prompt": "/prompt"}
//   },
//   "chat.create": {
//     "body": {"model": "m-1", "messages": [{"role": "user", "content": "Hello"}]}
//   },
//   "files.upload": {
//     "content": {"text": "Hello"},
//     "contentType": "text/plain",
//     "filename": "hello.txt"
//   },
//   "vision.analyze": "not-served"
// },`

const scenarios = `// How to trigger a condition that no client can cause by itself.
// "scenarios": {
//   "files.retrieve/403-file-access": {"params": {"file_id": "a-file-of-another-account"}},
//   "jobs.create/429-quota-exceeded": {"key": {"env": "KEY_WITH_SPENT_QUOTA"}}
// },`

const unreachable = `// Conditions nobody can trigger here, with the reason. Listed in every report.
// "unreachable": {"completion.create/500-*": "no staging switch for model outages"},`

const limits = `// 0 requests per second: no limit. maxGenerations bounds what a run may generate.
"limits": {
  "concurrency": 8,
  "requestsPerSecond": 0,
  "timeoutMs": 60000,
  "jobTimeoutMs": 60000,
  "maxGenerations": 600
}`

interface Comment {
  readonly about: string
  readonly members: readonly (readonly [name: string, value: unknown])[]
}

/** The sections for everything that a run was missing: comments, except for values that the run knew. */
function lackedParts({ keyVariable, notServed }: Answers, steps: readonly Step[]): string[] {
  const absent = Object.fromEntries(notServed.map((id) => [id, 'not-served']))
  const part = (about: string, name: string, known: object): string[] => {
    const comments = commentsOf(name, steps, notServed)
    const members = Object.entries(known)
    if (comments.length === 0 && members.length === 0) return []
    if (comments.length === 0) return [`${about}\n${member(name, known)}`]
    // Ends each member with a comma, so that any comment can be uncommented.
    const entry = ([key, value]: readonly [string, unknown]): string => member(key, value, 82)
    const others = comments.flatMap((one) => [one.about, ...one.members.map(entry)])
    const lines = [
      ...members.map((one) => entry(one).replaceAll(/^/gm, '  ')),
      ...others.map((text) => text.replaceAll(/^/gm, '  // ')),
    ]
    return [`${about}\n"${name}": {\n${lines.join('\n')}\n},`]
  }
  return [
    ...part(
      `// In comments: what the run lacked, and how many more requirements each lets be tested. Uncomment what your server has,
// and replace the <placeholders>. This file does not contain what the old target file declared: merge the two.`,
      'keys',
      { full: { env: keyVariable } },
    ),
    ...part('// Objects on the target.', 'resources', {}),
    ...part(
      '// Requests that are known to succeed, or "not-served" for operations you do not offer.',
      'operations',
      absent,
    ),
    ...part('// How to trigger a condition that no client can cause by itself.', 'scenarios', {}),
  ]
}

function commentsOf(name: string, steps: readonly Step[], notServed: readonly string[]): Comment[] {
  const lacked = steps.flatMap((step) => commentOf(name, step))
  if (name !== 'operations') return lacked
  return operations
    .filter(({ id }) => !notServed.includes(id))
    .flatMap(({ id }) => {
      const [usual = { about: 'No request has to be declared.', members: [] }, ...extended] =
        lacked.filter(({ members }) => members.some(([operation]) => operation === id))
      return [{ ...usual, members: [...usual.members, [id, 'not-served'] as const] }, ...extended]
    })
}

function commentOf(name: string, { example, ids, names }: Step): Comment[] {
  const values = example[name]
  if (!isObject(values)) return []
  const own = new Set(Object.keys(values).map((key) => `${name}.${key}`))
  const others = name === 'scenarios' ? [] : names.filter((one) => !own.has(one))
  const besides = others.length > 0 ? `, with ${others.join(' and ')}` : ''
  return [{ about: `+${ids.length}${besides}`, members: Object.entries(values) }]
}

/** The text of a target file with everything that a run was missing added at its end, in a comment. */
export function added(text: string, { notServed, steps = [] }: Answers): string {
  const operations = Object.fromEntries(notServed.map((id) => [id, 'not-served']))
  const lacked = mergedExamples([
    ...steps,
    ...(notServed.length > 0 ? [{ example: { operations } }] : []),
  ])
  const lines = [
    'What the last run was missing. Move what your server has into the members above,',
    'and replace the <placeholders>:',
    ...compactJson(lacked, 90).split('\n'),
  ]
  const end = text.lastIndexOf('}')
  const comment = lines.map((line) => `  // ${line}\n`).join('')
  return `${text.slice(0, end).trimEnd()}\n\n${comment}${text.slice(end)}`
}
