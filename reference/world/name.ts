import type { Call } from './call.ts'
import { countUp } from './world.ts'

/**
 * The name of what is to be created, of whatever type. Without one the request is refused for a reason that no
 * requirement is about, or under `names/optional` the server finds one.
 */
export function nameOf(call: Call, kind: string): unknown {
  const { name } = call.body
  if (name !== undefined && name !== null) return name
  if (!call.varied('names/optional')) return name === null ? null : call.reject(400, 'BadRequest', 'name is missing')
  call.body = { ...call.body, name: `${kind} ${countUp(call.world, 'names')}` }
  return call.body['name']
}
