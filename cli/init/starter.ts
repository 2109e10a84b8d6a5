import { type Answers, isModule } from './answers.ts'
import { block, type Block, hint, writeBlock } from './block.ts'
import { lackedBlocks } from './lacked.ts'

/** A commented target file that can be used at once: it has what is known, and the rest as comments. */
export function starter(file: string, answers: Answers): string {
  const body = blocks(answers).map(writeBlock).join('\n\n')
  if (!isModule(file)) return `{\n${schemaLine}\n\n${body}\n}\n`
  return `import { defineTarget } from 'ai-content-conformance'\n\nexport default defineTarget({\n${body}\n})\n`
}

const schemaLine = '  "$schema": "./node_modules/ai-content-conformance/schemas/target.schema.json",'

function blocks(answers: Answers): Block[] {
  const resources = {
    ...(answers.application && { application: answers.application }),
    ...(answers.pdfFile !== undefined && { pdfFile: answers.pdfFile }),
    ...(answers.file !== undefined && { file: answers.file }),
  }
  const known = Object.keys(resources).length > 0
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
    ...(known ? [`Others: ${others(resources).join(', ')}.`] : []),
  ]
  const usual = [
    block('keys', { full: { env: answers.keyVariable } }, [
      'The key with full rights: a string, {"env": "NAME"}, {"file": "path"} or {"command": [...], "ttlSeconds": 300}.',
      'Also of use: "expired" (was valid once) and "restricted" (valid, without permission).',
    ]),
    known ? block('resources', resources, about) : hint('resources', exampleResources, about),
    operations,
    hint('scenarios', exampleScenarios, ['How to bring about a condition that no client can cause by itself.']),
  ]
  return [
    block('name', answers.name, ['What the reports call the target.']),
    block('baseUrl', answers.baseUrl, ['http or https; may have a path. No key belongs here.']),
    hint('headers', { 'x-tenant': { env: 'TENANT' } }, ['Sent with every request.']),
    ...(answers.steps ? lackedBlocks(answers, answers.steps) : usual),
    hint('unreachable', { 'completion.create/500-*': 'no staging switch for model outages' }, [
      'What cannot be brought about here, and why: not applicable, and named in every report.',
    ]),
    block('limits', limits, ['0 requests per second: no limit. maxGenerations bounds what a run may generate.']),
  ]
}

const limits = { concurrency: 8, requestsPerSecond: 0, timeoutMs: 60000, jobTimeoutMs: 60000, maxGenerations: 200 }

const exampleScenarios = {
  'files.retrieve/403-file-access': { params: { file_id: 'a-file-of-another-account' } },
  'jobs.create/429-quota-exceeded': { key: { env: 'KEY_WITH_SPENT_QUOTA' } },
}

const resourceNames = [
  ...['application', 'otherApplication', 'slowApplication', 'failingApplication', 'job'],
  ...['pdfFile', 'corruptedPdfFile', 'encryptedPdfFile', 'oversizedPdfFile', 'file', 'deletedFile', 'graph'],
]

function others(resources: object): string[] {
  return resourceNames.filter((name) => !Object.hasOwn(resources, name))
}

const exampleResources = {
  application: { id: 'an-application', inputs: [{ id: 'topic', value: ['tea'] }], requiredInputs: ['topic'] },
  slowApplication: { id: 'one-whose-jobs-take-a-second', inputs: [{ id: 'topic', value: ['tea'] }] },
  file: 'id-of-a-file',
  deletedFile: 'id-of-a-file-that-was-deleted',
  graph: 'id-of-a-graph',
}

const exampleOperations = {
  'completion.create': { body: { model: 'm-1', prompt: 'Hello' }, fields: { model: '/model', prompt: '/prompt' } },
  'chat.create': { body: { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] } },
  'files.upload': { content: { text: 'Hello' }, contentType: 'text/plain', filename: 'hello.txt' },
  'vision.analyze': 'not-served',
}

const example = ['"completion.create": {"body": {"model": "m-1", "prompt": "Hello"}, "fields": {"prompt": "/prompt"}}']
