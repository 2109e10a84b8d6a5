import { isOperationId, operationOf, type OperationId } from './operations.ts'

/**
 * Example scenarios to paste for conditions that lack one, easiest first: another value in the request, other bytes,
 * another account, a switch of the target.
 */
type Example = Readonly<Record<string, unknown>>

const merge = (members: Example): Example => ({ merge: members })
const params = (members: Readonly<Record<string, string>>): Example => ({ params: members })
const account = (env: string): Example => ({ key: { env } })
const statement = (content: unknown): Example => merge({ messages: [{ role: 'user', content }] })
const image = (url: string): Example =>
  statement([
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url } },
  ])
const picture = (which: string): Example =>
  merge({ variables: [{ name: 'picture', file_id: `<id of an image ${which}>` }] })
/** The bytes of an upload, with a matching name: a server may go by either. */
const bytes = (value: Example, contentType = 'text/plain', filename = 'tea.txt'): Example => ({
  raw: { ...value, contentType },
  headers: { 'content-disposition': `attachment; filename="${filename}"` },
})
/** No request causes an outage: a switch of the target does, before and after. */
const outage: Example = {
  before: [{ method: 'POST', url: '/<switch of your target that causes it>' }],
  after: [{ method: 'POST', url: '/<switch that ends it>' }],
}
const ofOthers = 'of another account'
const graphTool = (id: string): Example => merge({ tools: [{ type: 'graph', graph_ids: [id] }] })
const chatOf = (example: Example): Example => ({ operation: 'chat.create', ...example })

// oxfmt-ignore
const examples = (): Readonly<Record<string, Example>> => ({
  'completion.create/model-unsafe-request': merge({ prompt: '<a prohibited text>' }),
  'graphs.query/400-too-complex': merge({ query: '<a query over the limits>' }),
  'files.upload/507-storage-full': account('KEY_OF_FULL_ACCOUNT'),
  'jobs.retrieve/4xx-foreign-job': params({ job_id: `<job ${ofOthers}>` }),
  'graphs.add-file/400-unsupported-type': merge({ file_id: '<file of an unsupported type>' }),
  'graphs.add-file/400-unparsable': merge({ file_id: '<file that cannot be parsed>' }),
  'graphs.create/400-invalid-name': merge({ name: '<a name that is not valid>' }),
  'applications.create/400-invalid-blueprint': merge({ '<member>': '<a blueprint that is not valid>' }),
  'chat.create/403-graph-access': graphTool(`<graph ${ofOthers}>`),
  'chat.create/4xx-unknown-graph': graphTool('<id of a graph that does not exist>'),
  'files.upload/403-graph-access': { query: { graphId: `<graph ${ofOthers}>` } },
  'chat.create/400-unsafe-request': statement('<a prohibited text>'),
  'chat.create/200-image-parts': image('data:image/png;base64,<bytes of an image>'),
  'chat.create/200-image-url': image('https://<address of an image>'),
  'chat.create/200-llm-tool': merge(operationOf('chat.create').members.find((one) => one.role === 'tools')?.example ?? {}),
  'files.upload/400-unsupported-type': bytes({ text: '<any text>' }, 'application/x-unsupported', 'tea.unsupported'),
  'files.upload/400-oversized': bytes({ text: '<more text than a file may hold>' }),
  'files.upload/413-body-too-large': bytes({ text: '<more text than a body may hold>' }),
  'files.upload/400-corrupted': bytes({ base64: 'JVBERi0xLjcKJSVFT0YK' }, 'application/pdf', 'tea.pdf'),
  'vision.analyze/403-file-access': picture(ofOthers),
  'guardrails/400-blocked': chatOf(statement('<a text that your guardrail blocks>')),
  'guardrails/400-blocked-by-provider': chatOf(statement("<a text that the provider's guardrail blocks>")),
  'guardrails/401-provider-credentials': chatOf(account('KEY_WITH_GUARDRAIL_OF_WRONG_CREDENTIALS')),
  'guardrails/403-provider-permissions': chatOf(account('KEY_WITH_GUARDRAIL_WITHOUT_PERMISSION')),
  'guardrails/404-unknown-guardrail': chatOf(account('KEY_WITH_GUARDRAIL_THAT_IS_GONE')),
  'general/409-conflict': { operation: 'graphs.add-file', ...merge({ file_id: '<id of a file that is in the graph>' }) },
  'general/410-gone': { operation: 'files.retrieve', ...params({ file_id: '<file that was deleted>' }) },
  'general/413-payload-too-large': { operation: 'translate.run', ...merge({ text: '<a text over every limit>' }) },
  'general/422-unprocessable': chatOf(merge({ '<member>': '<a value that makes no sense here>' })),
  'general/507-insufficient-storage': { operation: 'files.upload', ...account('KEY_OF_FULL_ACCOUNT') },
})

let byId: ReturnType<typeof examples> | undefined

/**
 * Finds an example by the form of the condition's id: an outage is a switch of the target, a right or a quota belongs
 * to an account.
 */
function byRule(operation: OperationId, condition: string): Example {
  if (/model/.test(condition)) return merge({ model: '<model for which it happens>' })
  const [, fault] = /^400-(\w+)-image$/.exec(condition) ?? []
  if (fault !== undefined) return picture(`that is ${fault}`)
  const [, long = ''] = /^400-(\w+)-too-long$/.exec(condition) ?? []
  if (long !== '') return merge({ [long]: `<a ${long} over the limit>` })
  const [, noun] = /^403-(\w+)-access$/.exec(condition) ?? []
  if (noun !== undefined) {
    const id = { [`${noun}_id`]: `<${noun} ${ofOthers}>` }
    return operationOf(operation).path.includes(`{${noun}_id}`) ? params(id) : merge(id)
  }
  if (condition.startsWith('5')) return outage
  if (condition.startsWith('429-')) return account('KEY_WITH_SPENT_QUOTA')
  if (/^40[13]-/.test(condition)) return account('KEY_THAT_IS_REFUSED')
  const { body, path } = operationOf(operation)
  const value = '<a value that triggers it>'
  if (body === 'json') return merge({ '<member>': value })
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  return parameter === undefined
    ? { query: { '<parameter>': value } }
    : params({ [parameter]: value })
}

export function scenarioExample(id: string): Example {
  const [area = '', condition = ''] = id.split('/')
  // Most runs need none.
  const own = (byId ??= examples())[id]
  if (own) return own
  return isOperationId(area) ? byRule(area, condition) : chatOf(byRule('chat.create', condition))
}
