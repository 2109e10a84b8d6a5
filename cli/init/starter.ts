import { existsSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import type { OperationId } from '../../catalogue/operations.ts'
import { UserError } from '../../harness/user-error.ts'
import { mergedExamples, type Step } from '../../reporters/view/next-steps.ts'
import { compactJson } from '../../reporters/view/writing.ts'

export interface Answers {
  readonly baseUrl: string
  readonly notServed: readonly OperationId[]
}

export const keyVariable = 'CONFORM_API_KEY'

const modules = ['.ts', '.mts', '.js', '.mjs']

/** Whether a target file of that name is a module; throws UserError for another extension. */
export function isModule(file: string): boolean {
  const extension = extname(file)
  if (extension === '.json') return false
  if (modules.includes(extension)) return true
  throw new UserError(`${file}: a target file ends in .json, ${modules.join(', ')}`)
}

const width = 90

function member(name: string, value: unknown): string {
  return `${JSON.stringify(name)}: ${compactJson(value, width)},`
}

/** A commented target file that works as it is: known values as members, the rest as comments. */
export function starter(file: string, answers: Answers): string {
  const absent = Object.fromEntries(answers.notServed.map((id) => [id, 'not-served']))
  const parts = [
    `// What the reports call the target.\n${member('name', new URL(answers.baseUrl).host)}`,
    `// http or https; may have a path. No key belongs here.\n${member('baseUrl', answers.baseUrl)}`,
    '// Sent with every request.\n// "headers": {"x-tenant": {"env": "TENANT"}},',
    `${keys}\n${member('keys', { full: { env: keyVariable } })}`,
    resources,
    answers.notServed.length > 0
      ? `${servedOnes}\n${member('operations', absent)}`
      : exampleOperations,
    scenarios,
    unreachable,
    limits,
  ]
  const body = parts.map((part) => part.replaceAll(/^/gm, '  ')).join('\n\n')
  if (!isModule(file)) return `{\n${schemaLine(file)}${body}\n}\n`
  return `import { defineTarget } from 'ai-content-conformance'\n\nexport default defineTarget({\n${body}\n})\n`
}

const schemaPath = 'node_modules/ai-content-conformance/schemas/target.schema.json'

function schemaLine(file: string): string {
  const isThere = existsSync(join(dirname(file), schemaPath))
  return isThere ? `  "$schema": "./${schemaPath}",\n\n` : ''
}

const keys = `// The key with full rights: a string, {"env": "NAME"}, {"file": "path"} or {"command": [...], "ttlSeconds": 300}.
// Also of use: "expired" (was valid once) and "restricted" (valid, without permission).`

const resources = `// Objects on the target. The application is needed for jobs.create and jobs.retrieve: jobs are created on it.
// "resources": {
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

/** The text of a target file with everything that a run was missing added at its end, in a comment. */
export function added(text: string, steps: readonly Pick<Step, 'example'>[]): string {
  const lines = [
    'What the last run was missing. Move what your server has into the members above,',
    'and replace the <placeholders>:',
    ...compactJson(mergedExamples(steps), width).split('\n'),
  ]
  const end = text.lastIndexOf('}')
  const comment = lines.map((line) => `  // ${line}\n`).join('')
  return `${text.slice(0, end).trimEnd()}\n\n${comment}${text.slice(end)}`
}
