import type { Call } from './call.ts'
import { countUp } from './world.ts'

/** A generated text: the same for the same request, unless a variant makes it vary or stay empty. */
export function generated(call: Call, text: string): string {
  if (call.varied('generation/empty')) return ''
  return call.varied('generation/varying') ? `${text} (${countUp(call.world, 'texts')})` : text
}
