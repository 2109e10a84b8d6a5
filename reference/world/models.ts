import type { Call } from './call.ts'
import { lengthened } from './created.ts'
import { countUp } from './world.ts'

/** Size and length limits (§8.2), of an account's plan. */
interface Plan {
  /** Bytes of a request body. */
  readonly body: number
  /** Bytes of a file. */
  readonly file: number
  /** Characters of a text, and of a query. */
  readonly text: number
}

const kib = 1024
const standard: Plan = { body: 4096 * kib, file: 1024 * kib, text: 100_000 }
// So small that a scenario really exceeds it with a few words.
const tiny: Plan = { body: 512, file: 128, text: 60 }

/** Bytes of a PDF that is parsed, whatever the plan. */
export const pdfLimit = 64 * kib
/** Bytes of an image that is analysed, whatever the plan. */
export const imageLimit = 16 * kib
/** Operators (AND, OR, NOT) in one graph query. */
export const queryComplexity = 8

/** The plan that the request's `x-plan` header chooses: `standard`, or `tiny`. */
export function planOf(call: Call): Plan {
  return call.request.header('x-plan') === 'tiny' ? tiny : standard
}

interface Trouble {
  readonly condition: string
  readonly status: number
  readonly tpe: string
}

const working = new Set(['m-1', 'm-2', 'm-medical'])

// Models that exist and in which something is wrong (§7.3, §7.4). The two operations that use them differ in statuses.
const troubled: Readonly<Record<string, Trouble>> = {
  'm-restricted': { condition: '403-model-access', status: 403, tpe: 'InsufficientAccessRights' },
  'm-exhausted': { condition: '429-model-quota', status: 429, tpe: 'CompletionModelQuotaError' },
  'm-unauthorized': { condition: 'model-unauthorized', status: 500, tpe: 'CompletionModelUnauthorizedError' },
  'm-broken': { condition: 'model-underlying-request', status: 500, tpe: 'CompletionModelUnderlyingRequestError' },
  'm-silent': { condition: 'model-no-prediction', status: 500, tpe: 'CompletionModelNoPredictionError' },
}

const troubledByOperation: Readonly<Record<string, Readonly<Record<string, Trouble>>>> = {
  'completion.create': {
    'm-offline': { condition: '500-model-unavailable', status: 500, tpe: 'CompletionModelUnavailableError' },
    'm-overloaded': { condition: '500-model-overload', status: 500, tpe: 'CompletionModelInternalError' },
  },
  'chat.create': {
    'm-offline': { condition: '503-model-unavailable', status: 503, tpe: 'CompletionModelUnavailableError' },
    'm-overloaded': { condition: '500-model-internal-error', status: 500, tpe: 'CompletionModelInternalError' },
  },
}

function troubleOf(call: Call, model: string): Trouble | undefined {
  return troubled[model] ?? troubledByOperation[call.operation]?.[model]
}

export function isModel(call: Call, id: unknown): id is string {
  return typeof id === 'string' && (working.has(id) || troubleOf(call, id) !== undefined)
}

/** Finds the kind of an unknown model. */
export function kindOfModel(call: Call, id: unknown): string | string[] {
  if (typeof id !== 'string') return 'type'
  const again = countUp(call.world, `model ${call.operation} ${id}`) > 1
  return [...lengthened(id, working), ...(again ? ['again'] : [])]
}

/** Refuses if something is wrong with the model. */
export function refuseTroubledModel(call: Call, model: unknown): void {
  const trouble = troubleOf(call, String(model))
  if (trouble === undefined) return
  const otherStatus = call.varied('models/other-statuses') && trouble.condition.startsWith('model-')
  call.refuse(trouble.condition, otherStatus ? 400 : trouble.status, trouble.tpe)
}

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

/** A generated text: the same for the same request, unless a variant makes it vary or stay empty. */
export function generated(call: Call, text: string): string {
  if (call.varied('generation/empty')) return ''
  return call.varied('generation/varying') ? `${text} (${countUp(call.world, 'texts')})` : text
}
