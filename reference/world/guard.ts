import type { Call } from './call.ts'

const cardNumber = /\b(?:\d{4}[ -]?){3}\d{4}\b/
const prohibited = /how to build a bomb/i

/** Content that a guardrail blocks (§7.1, §7.3), and content that the model will not answer (§7.4). */
export function guard(call: Call, text: string, unsafe: string): void {
  if (cardNumber.test(text)) {
    const whole = { guardrail_name: 'pii', entity_type: 'CREDIT_CARD' }
    const extras = call.world.switches.broken('guardrails/400-blocked#extras') ? { entity_type: 17 } : whole
    call.refuse('guardrails/400-blocked', 400, 'GuardrailBlockedError', { extras, key: 'fail.guardrail.blocked' })
  }
  if (prohibited.test(text)) call.refuse(unsafe, 400, 'CompletionModelUnsafeRequestError')
}
