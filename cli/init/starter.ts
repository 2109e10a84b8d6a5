import { operations } from '../../catalogue/operations.ts'
import type { Step } from '../../reporters/view/next-steps.ts'
import { compactJson } from '../../reporters/view/writing.ts'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { isObject } from '../../schemas/json.ts'
import { extname } from 'node:path'
import type { OperationId } from '../../catalogue/operations.ts'
import { UserError } from '../../harness/user-error.ts'

/** Input of a starter file. */
export interface Answers {
  readonly name: string
  readonly baseUrl: string
  /** Environment variable that holds the full key. */
  readonly keyVariable: string
  readonly notServed: readonly OperationId[]
  readonly application?: {
    readonly id: string
    readonly inputs: readonly { id: string; value: string[] }[]
  }
  /** Parts that a run found to be lacking; undefined if there was no run. */
  readonly steps?: readonly Step[]
}

const modules = ['.ts', '.mts', '.js', '.mjs']

/** Whether a target file of that name is a module; throws UserError if it can be no target file. */
export function isModule(file: string): boolean {
  const extension = extname(file)
  if (extension === '.json') return false
  if (modules.includes(extension)) return true
  throw new UserError(`${file}: a target file ends in .json, ${modules.join(', ')}`)
}

/** A commented target file that can be used at once: it has what is known, and the rest as comments. */
export function starter(file: string, answers: Answers): string {
  const body = blocks(answers).map(writeBlock).join('\n\n')
  if (!isModule(file)) return `{\n${schemaLine(file)}${body}\n}\n`
  return `import { defineTarget } from 'ai-content-conformance'\n\nexport default defineTarget({\n${body}\n})\n`
}

const schemaPath = 'node_modules/ai-content-conformance/schemas/target.schema.json'

/** Names the schema for editors, if the package is installed in the folder of the file or above. */
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

function blocks(answers: Answers): Block[] {
  const { application } = answers
  const notServed = Object.fromEntries(answers.notServed.map((id) => [id, 'not-served']))
  const operations =
    answers.notServed.length > 0
      ? block('operations', notServed, [
          'What the target does not serve is not applicable. Of the others, give a request known to succeed:',
          ...example,
        ])
      : hint('operations', exampleOperations, [
          'Requests known to succeed, for operations whose payloads the interface does not show; or "not-served".',
        ])
  const about = [
    'What the target holds. The application judges jobs.create and jobs.retrieve: jobs are created on it.',
    ...(application ? [`Others: ${otherResources.join(', ')}.`] : []),
  ]
  const usual = [
    block('keys', { full: { env: answers.keyVariable } }, [
      'The key with full rights: a string, {"env": "NAME"}, {"file": "path"} or {"command": [...], "ttlSeconds": 300}.',
      'Also of use: "expired" (was valid once) and "restricted" (valid, without permission).',
    ]),
    application
      ? block('resources', { application }, about)
      : hint('resources', exampleResources, about),
    operations,
    hint('scenarios', exampleScenarios, [
      'How to bring about a condition that no client can cause by itself.',
    ]),
  ]
  return [
    block('name', answers.name, ['What the reports call the target.']),
    block('baseUrl', answers.baseUrl, ['http or https; may have a path. No key belongs here.']),
    hint('headers', { 'x-tenant': { env: 'TENANT' } }, ['Sent with every request.']),
    ...(answers.steps ? lackedBlocks(answers, answers.steps) : usual),
    hint('unreachable', { 'completion.create/500-*': 'no staging switch for model outages' }, [
      'What cannot be brought about here, and why: not applicable, and named in every report.',
    ]),
    block('limits', limits, [
      '0 requests per second: no limit. maxGenerations bounds what a run may generate.',
    ]),
  ]
}

const limits = {
  concurrency: 8,
  requestsPerSecond: 0,
  timeoutMs: 60000,
  jobTimeoutMs: 60000,
  maxGenerations: 600,
}

const exampleScenarios = {
  'files.retrieve/403-file-access': { params: { file_id: 'a-file-of-another-account' } },
  'jobs.create/429-quota-exceeded': { key: { env: 'KEY_WITH_SPENT_QUOTA' } },
}

const otherResources = [
  ...['otherApplication', 'slowApplication', 'failingApplication', 'job'],
  ...[
    'pdfFile',
    'corruptedPdfFile',
    'encryptedPdfFile',
    'oversizedPdfFile',
    'file',
    'deletedFile',
    'graph',
  ],
]

const exampleResources = {
  application: {
    id: 'an-application',
    inputs: [{ id: 'topic', value: ['tea'] }],
    requiredInputs: ['topic'],
  },
  slowApplication: {
    id: 'one-whose-jobs-take-a-second',
    inputs: [{ id: 'topic', value: ['tea'] }],
  },
  file: 'id-of-a-file',
  deletedFile: 'id-of-a-file-that-was-deleted',
  graph: 'id-of-a-graph',
}

const exampleOperations = {
  'completion.create': {
    body: { model: 'm-1', prompt: 'Hello' },
    fields: { model: '/model', prompt: '/prompt' },
  },
  'chat.create': { body: { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] } },
  'files.upload': { content: { text: 'Hello' }, contentType: 'text/plain', filename: 'hello.txt' },
  'vision.analyze': 'not-served',
}

const example = [
  '"completion.create": {"body": {"model": "m-1", "prompt": "Hello"}, "fields": {"prompt": "/prompt"}}',
]

/** The blocks of a file that says what a run lacked, by steps: in comments, but for what the run knew. */
function lackedBlocks({ keyVariable, notServed }: Answers, steps: readonly Step[]): Block[] {
  const absent = Object.fromEntries(notServed.map((id) => [id, 'not-served']))
  const all = [
    block('keys', { full: { env: keyVariable } }, [
      'In comments: what the run lacked, and how many more requirements each lets be tested. Uncomment what your server has,',
      'and fill in what stands in angle brackets. What the run had declared is not in its report.',
    ]),
    block('resources', {}, ['What the target holds.']),
    block('operations', absent, [
      'Requests that are known to succeed, or "not-served" for what your server does not have.',
    ]),
    block('scenarios', {}, ['How to bring about a condition that no client can cause by itself.']),
  ]
  return all
    .map((one) => ({ ...one, comments: commentsOf(one.name, steps, notServed) }))
    .filter(({ comments, value }) => comments.length > 0 || Object.keys(value as object).length > 0)
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

/** A member of the target file, with what is to be said about it; one that is not `live` is written as a comment. */
interface Block {
  readonly about: readonly string[]
  readonly name: string
  readonly value: unknown
  readonly live: boolean
  /** Members of the value that are written as comments. */
  readonly comments?: readonly Comment[]
}

interface Comment {
  readonly about: string
  readonly members: readonly (readonly [name: string, value: unknown])[]
}

const block = (name: string, value: unknown, about: readonly string[]): Block => ({
  ...{ about, name, value },
  live: true,
})
const hint = (name: string, value: unknown, about: readonly string[]): Block => ({
  ...{ about, name, value },
  live: false,
})

function writeBlock(given: Block, index: number, all: readonly Block[]): string {
  const { about, comments = [], name, value, live } = given
  const member =
    comments.length > 0 ? withComments(given, comments) : memberText(name, value, 90).split('\n')
  const last = index === all.length - 1 ? '' : ','
  const lines = [...member.slice(0, -1), `${member.at(-1)}${last}`]
  const shown = live ? lines : lines.map((line) => `// ${line}`)
  return [...about.map((line) => `// ${line}`), ...shown].map((line) => `  ${line}`).join('\n')
}

/** Each of its members ends with a comma, so that any of the comments can be uncommented. */
function withComments({ name, value }: Block, comments: readonly Comment[]): string[] {
  const entry = ([key, of]: readonly [string, unknown]): string[] =>
    `${memberText(key, of, 82)},`.split('\n')
  const known = Object.entries(value as object).flatMap(entry)
  const others = comments.flatMap(({ about, members }) => [about, ...members.flatMap(entry)])
  return [
    `${JSON.stringify(name)}: {`,
    ...known.map((line) => `  ${line}`),
    ...others.map((line) => `  // ${line}`),
    '}',
  ]
}

function memberText(name: string, value: unknown, width: number): string {
  return `${JSON.stringify(name)}: ${compactJson(value, width)}`
}
