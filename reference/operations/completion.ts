import { isAbsent, jsonType, type Call } from '../world/call.ts'
import { generated, guard, isModel, kindOfModel, refuseTroubledModel } from '../world/models.ts'
import type { Operation } from '../world/operation.ts'

/** Under `requests/values-coerced` also what can be made a number. */
function isNumber(call: Call, value: unknown): boolean {
  if (typeof value === 'number') return true
  if (!call.varied('requests/values-coerced')) return false
  return (
    typeof value === 'boolean' || (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
  )
}

function check(call: Call): void {
  const { model, prompt, temperature, max_tokens: most, top_p: share } = call.body
  if (typeof model !== 'string')
    call.refuse('400-malformed-request', 400, 'BadRequest', { description: 'model is a string', kind: 'model' })
  if (!isModel(call, model))
    call.refuse('400-unsupported-model', 400, 'BadRequest', {
      description: 'The model is not supported',
      kind: kindOfModel(model),
    })
  if (typeof prompt !== 'string') {
    call.refuse('400-malformed-request', 400, 'BadRequest', {
      description: 'prompt is a string',
      at: 'prompt',
      kind: 'prompt',
    })
  }
  if (prompt === '') call.refuse('400-empty-prompt', 400, 'InvalidInputParameters')
  if (!isAbsent(temperature) && !isNumber(call, temperature)) {
    call.refuse('400-invalid-temperature', 400, 'InvalidContentType', { kind: jsonType(temperature) })
  }
  if (!isAbsent(most) && !isNumber(call, most)) {
    call.refuse('400-invalid-max-tokens', 400, 'InvalidContentType', { kind: jsonType(most) })
  }
  if (typeof most === 'number' && most < 1 && !call.varied('tokens/below-zero-granted')) {
    call.reject(400, call.varied('tokens/below-zero-bad-request') ? 'BadRequest' : 'InvalidInputParameters')
  }
  if (!isAbsent(share) && !isNumber(call, share)) call.refuse('400-invalid-parameter', 400, 'InvalidContentType')
}

/** §4.4 */
export const completion: Operation = {
  id: 'completion.create',
  method: 'POST',
  paths: ['/v1/completion'],
  body: 'json',
  members: ['model', 'prompt', 'temperature', 'max_tokens', 'top_p'],
  check,
  run: (call: Call) => {
    refuseTroubledModel(call, call.body['model'])
    const prompt = String(call.body['prompt'])
    guard(call, prompt, 'model-unsafe-request')
    return {
      status: 200,
      body: { model: call.body['model'], choices: [{ text: generated(call, `${prompt} Indeed.`) }] },
    }
  },
  grant: () => ({ status: 200, body: { choices: [{ text: '' }] } }),
}
