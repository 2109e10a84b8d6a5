import type { Answer } from './world/answer.ts'
import type { Call } from './world/call.ts'
import { enlarged } from './world/large.ts'

/** Operations whose success has no shape in the spec, and of whose answer no client needs a member. */
const shapeless = new Set([
  'completion.create',
  'files.list',
  'files.retrieve',
  'graphs.add-file',
  'graphs.query',
  'ai-detect.run',
  'web-search.run',
  'translate.run',
  'vision.analyze',
])

/** Operations that make something, and whose success has no shape either. */
const creations = new Set(['files.upload', 'graphs.create', 'applications.create'])

const others: Readonly<Record<string, Answer>> = {
  'successes/no-content': { status: 204 },
  'successes/plain-text': { status: 200, text: { type: 'text/plain', value: 'done {' } },
  'successes/empty': { status: 200 },
  'successes/other-2xx': { status: 203, body: { done: true } },
  'successes/json-scalar': { status: 200, body: 17 },
}

/** The success of an operation, or another 2xx of a variant if the spec shows no shape. */
export function successes(answer: Answer, call: Call): Answer {
  // A page that says that nothing is there is none.
  if (answer.status >= 300) return answer
  if (creations.has(call.operation)) {
    if (call.varied('successes/accepted-creations')) return { ...answer, status: 202 }
    return call.varied('successes/no-content-creations') ? { status: 204 } : answer
  }
  if (!shapeless.has(call.operation)) return answer
  for (const [variant, other] of Object.entries(others)) if (call.varied(variant)) return other
  return enlarged(answer, call)
}
