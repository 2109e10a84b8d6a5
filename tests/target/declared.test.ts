import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { checkTargetFile } from '../../harness/target/load.ts'
import { declares, missingNeeds, missingReason, snippetOf } from '../../harness/target/declared.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import type { TargetFile } from '../../harness/target/model.ts'

const rows = catalogue.filter(({ needs }) => needs.length > 0).map((row) => [row.id, row] as const)

test.each(rows)(
  'what is to be pasted for %s declares all that it needs',
  (_, { needs, operation }) => {
    const text = snippetOf(needs)
    expect(text).not.toMatch(/\n/)
    const file = checkTargetFile(JSON.parse(text.replaceAll(/<[^<>]+>/g, 'filled-in')), 'pasted')
    expect(missingNeeds(file, needs, operation)).toEqual([])
  },
)

const declarations = `
/resources/graph  yes  {"resources":{"graph":"g"}}
/resources/graph  no  {"resources":{}}
/operations/files.upload  no  {"operations":{"files.upload":"not-served"}}
/operations/completion.create/fields/prompt  no  {"operations":{"completion.create":{"body":{"prompt":""}}}}
/operations/completion.create/fields/prompt  yes  {"operations":{"completion.create":{"body":{},"fields":{"prompt":"/p"}}}}
/operations/chat.create/fields/model  yes  {"operations":{"chat.create":{"body":{}}}}
/operations/chat.create/fields/model  no  {"operations":{"chat.create":{}}}
/operations/chat.create/fields/query_config  no  {"operations":{"chat.create":{"body":{}}}}
/operations/graphs.create/fields/name  yes  {"operations":{"graphs.create":{"body":{"name":""}}}}
/operations/graphs.create/fields/name  no  {"operations":{"graphs.create":{"body":{"title":""}}}}
/operations/chat.create/body/tools  yes  {"operations":{"chat.create":{"body":{"tools":[]}}}}
/operations/chat.create/body/tools  yes  {"operations":{"chat.create":{"body":{"chat":{"tools":[]}},"fields":{"tools":"/chat/tools"}}}}
/scenarios/jobs.create~1429-quota-exceeded  yes  {"scenarios":{"jobs.create/429-quota-exceeded":{}}}`

test.each(
  declarations
    .trim()
    .split('\n')
    .map((line) => line.split('  ')),
)('a need is declared: %s: %s, %s', (pointer = '', declared, file = '') => {
  expect(declares(JSON.parse(file) as TargetFile, pointer)).toBe(declared === 'yes')
})

test('a restricted key of another operation does not count', () => {
  const file: TargetFile = { keys: { restricted: { 'jobs.create': 'a-restricted-key' } } }
  expect(declares(file, '/keys/restricted', 'jobs.create')).toBe(true)
  expect(declares(file, '/keys/restricted', 'files.list')).toBe(false)
  expect(declares({ keys: { restricted: { env: 'A' } } }, '/keys/restricted', 'files.list')).toBe(
    true,
  )
})

test('what is to be pasted for a scenario fits the requirement, and asks no server for a header', () => {
  for (const { id } of catalogue.filter(({ scenarioOnly }) => scenarioOnly)) {
    const example = scenarioExample(id)
    expect(example, id).not.toHaveProperty('body')
    // Only that of an upload's own name (§2.8).
    const { headers = {} } = example as { headers?: object }
    expect(Object.keys(headers), id).toEqual(
      Object.hasOwn(example, 'raw') ? ['content-disposition'] : [],
    )
  }
})

test('the reason names what to declare and what to paste', () => {
  expect(
    missingReason({}, [['/resources/application', '/resources/job'], '/keys/expired'])?.reason,
  ).toBe(
    'declare resources.application or resources.job and keys.expired, for example {"resources": {"application": {"id": "<application id>", "inputs": [{"id": "<input id>", "value": ["tea"]}]}}, "keys": {"expired": {"env": "CONFORM_KEY_EXPIRED"}}}',
  )
  expect(missingReason({}, ['/scenarios/general~1410-gone'])?.reason).toBe(
    'declare a scenario for general/410-gone, for example {"scenarios": {"general/410-gone": {"operation": "files.retrieve", "params": {"file_id": "<file that was deleted>"}}}}',
  )
  const body = { operations: { 'completion.create': { body: { model: 'm', prompt: 'Hi' } } } }
  expect(
    missingReason(
      body,
      catalogue.find(({ id }) => id === 'completion.create/400-empty-prompt')?.needs ?? [],
    )?.reason,
  ).toBe(
    'declare operations.completion.create.fields.prompt, for example {"operations": {"completion.create": {"fields": {"prompt": "/prompt"}}}}',
  )
  expect(missingReason({ keys: { expired: 'a' } }, ['/keys/expired'])).toBeUndefined()
})

test('nothing is asked for by which an operation that is not served would make an object', () => {
  const need = [['/resources/application', '/resources/job']]
  const file: TargetFile = { operations: { 'jobs.create': 'not-served' } }
  expect(missingReason(file, need, 'jobs.retrieve')?.reason).toBe(
    'declare resources.job, for example {"resources": {"job": "<job id>"}}',
  )
  expect(missingReason({}, need, 'jobs.retrieve')?.reason).toMatch(
    /^declare resources\.application or resources\.job,/,
  )
})

test('what is to be pasted for a scenario has the members where the target has them', () => {
  const file: TargetFile = {
    operations: {
      'graphs.add-file': { body: { item: { id: 'f' } }, fields: { file: '/item/id' } },
      'chat.create': { body: {} },
    },
  }
  expect(
    snippetOf(
      ['/scenarios/graphs.add-file~1400-unparsable', '/scenarios/chat.create~1403-graph-access'],
      file,
    ),
  ).toBe(
    '{"scenarios": {"graphs.add-file/400-unparsable": {"merge": {"item": {"id": "<file that cannot be parsed>"}}}, "chat.create/403-graph-access": {"merge": {"tools": [{"type": "graph", "graph_ids": ["<graph of another account>"]}]}}}}',
  )
})
