import { isMembers, type Call } from '../world/call.ts'
import { reachable } from '../world/files.ts'
import { generated, isModel, refuseTroubledModel } from '../world/models.ts'
import type { Operation } from '../world/operation.ts'
import { imageLimit } from '../world/plan.ts'

const signatures: Readonly<Record<string, readonly number[]>> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': [0x47, 0x49, 0x46],
}

interface Variable {
  readonly name: string
  readonly file_id: string | number
}

function isVariable(item: unknown): item is Variable {
  if (!isMembers(item) || typeof item['name'] !== 'string') return false
  return typeof item['file_id'] === 'string' || typeof item['file_id'] === 'number'
}

function isVariables(value: unknown): value is readonly Variable[] {
  return Array.isArray(value) && value.every(isVariable)
}

function check(call: Call): void {
  const { model, prompt, variables } = call.body
  if (!isModel(call, model)) call.reject(400, 'BadRequest', 'model is not supported')
  if (typeof prompt !== 'string') call.refuse('400-malformed-request', 400, 'BadRequest', { kind: 'prompt' })
  if (!isVariables(variables)) call.refuse('400-malformed-request', 400, 'BadRequest', { kind: 'variables' })
}

function fit(call: Call): void {
  refuseTroubledModel(call, call.body['model'])
  for (const variable of call.body['variables'] as readonly Variable[]) {
    const file = reachable(call, variable.file_id)
    if (!file) call.reject(404, 'ResourceNotFound', `${variable.name} names no file`)
    if (file.account !== call.key?.account) call.refuse('403-file-access', 403, 'InsufficientAccessRights')
    const signature = signatures[file.type]
    if (!signature) call.refuse('400-unsupported-image', 400, 'BadRequest')
    const bytes = file.bytes()
    if (bytes.length > imageLimit) call.refuse('400-oversized-image', 400, 'InvalidInputParameters')
    if (!signature.every((byte, at) => bytes[at] === byte)) {
      call.refuse('400-corrupted-image', 400, 'InvalidContentType')
    }
  }
}

/** §4.4, §2.8 */
export const vision: Operation = {
  id: 'vision.analyze',
  method: 'POST',
  paths: ['/v1/vision/analyze', '/v1/vision'],
  body: 'json',
  members: ['model', 'prompt', 'variables'],
  check,
  fit,
  run: (call) => ({ status: 200, body: { data: generated(call, 'A black pixel.') } }),
  grant: () => ({ status: 200, body: { data: '' } }),
}
