import { grantedRequirement, type RequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { operation, type OperationId } from '../catalogue/operations.ts'
import { type BodySchema, isGranted, NotExercised, shapeFault } from '../harness/engine/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { isObject, member, getAt, parsedJson } from '../schemas/json.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'

type Choose = (
  exchange: RecordedHttpResponse,
  body: unknown,
  target: Target,
) => RequirementId | undefined

/** The requirement of a success, if that depends on what the request asked for; undefined if it asked for something else. */
const chosen: Readonly<Partial<Record<OperationId, Choose>>> = {
  'pdf.parse': (_, body) => {
    const format = member(body, 'format')
    return format === 'text' || format === 'markdown' ? `pdf.parse/200-${format}` : undefined
  },
  'chat.create': ({ response }, body) => {
    const streamed = /^\s*text\/event-stream/i.test(response.header('content-type') ?? '')
    // A stream is no completion (its form is not shown), and a call of a tool need have no content.
    const tools = member(body, 'tools') ?? []
    const hasTools = !Array.isArray(tools) || tools.length > 0
    const plain = isObject(body) && member(body, 'stream') !== true && !hasTools
    return streamed || !plain ? undefined : 'chat.create/200-completion'
  },
  'medical.comprehend': (_, body, { operations }) => {
    const pointer = operations['medical.comprehend']?.fields['response_type'] ?? '/response_type'
    return getAt(body, pointer) === 'Entities' ? 'medical.comprehend/200-entities' : undefined
  },
}

/** The granted requirement that a 2xx shows; of anything else only the requirements that see every response say something. */
export function shownSuccess(
  exchange: RecordedHttpResponse,
  target: Target,
): RequirementId | undefined {
  const { entry, probe, response } = exchange
  const { operation: id } = probe
  if (id === null || response.status < 200 || response.status >= 300) return undefined
  const choose = chosen[id]
  if (!choose) return grantedRequirement[id]
  const { state, bytes } = entry.requestBody
  return choose(
    exchange,
    state === 'whole' ? parsedJson(Buffer.from(bytes).toString('utf8')) : undefined,
    target,
  )
}

/**
 * Judges a 2xx by the granted requirement that it shows, as those of a run are judged: what is wrong with it, undefined if
 * nothing is. Throws `NotExercised` if nobody can tell.
 */
export function successFault(
  { entry, response }: RecordedHttpResponse,
  requirement: RequirementId,
  id: OperationId,
) {
  const { expects } = requirementOf(requirement)
  const expected = typeof expects === 'number' ? String(expects) : 'a 2xx'
  const schema = operation(id).response as BodySchema | undefined
  const isOther = typeof expects === 'number' && response.status !== expects
  const { state } = entry.body
  if (!isOther && (state === 'missing' || (schema !== undefined && state !== 'whole')))
    throw new NotExercised(
      state === 'missing'
        ? 'the recorder left out the body of such an answer'
        : 'the recording does not hold the whole body of any such answer',
    )
  if (isOther || !isGranted(response)) return { expected }
  return schema && shapeFault(response, schema)
}
