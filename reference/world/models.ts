import type { Pair } from '../declared/scenarios.ts'
import type { Call } from './call.ts'
import { likenessOfWord } from './created.ts'
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

const working = new Set(['m-1', 'm-2', 'm-medical'])

type Trouble = readonly [condition: string, pair: Pair]

// Models that exist and in which something is wrong (§7.3, §7.4). The two operations that use them differ in statuses.
const troubled: Readonly<Record<string, Trouble>> = {
  'm-restricted': ['403-model-access', '403-InsufficientAccessRights'],
  'm-exhausted': ['429-model-quota', '429-CompletionModelQuotaError'],
  'm-unauthorized': ['model-unauthorized', '500-CompletionModelUnauthorizedError'],
  'm-broken': ['model-underlying-request', '500-CompletionModelUnderlyingRequestError'],
  'm-silent': ['model-no-prediction', '500-CompletionModelNoPredictionError'],
}

const troubledByOperation: Readonly<Record<string, Readonly<Record<string, Trouble>>>> = {
  'completion.create': {
    'm-offline': ['500-model-unavailable', '500-CompletionModelUnavailableError'],
    'm-overloaded': ['500-model-overload', '500-CompletionModelInternalError'],
  },
  'chat.create': {
    'm-offline': ['503-model-unavailable', '503-CompletionModelUnavailableError'],
    'm-overloaded': ['500-model-internal-error', '500-CompletionModelInternalError'],
  },
}

/** Only the models' own names: every object has further ones, like `constructor`. */
function troubleOf(call: Call, model: string): Trouble | undefined {
  const all = { ...troubled, ...troubledByOperation[call.operation] }
  return Object.hasOwn(all, model) ? all[model] : undefined
}

export function isModel(call: Call, id: unknown): id is string {
  return typeof id === 'string' && (working.has(id) || troubleOf(call, id) !== undefined)
}

/** Finds the kinds of an unknown model. */
export function kindOfModel(call: Call, id: unknown): readonly string[] {
  return likenessOfWord(call, 'model', id, working)
}

/** Refuses if something is wrong with the model. */
export function refuseTroubledModel(call: Call, model: unknown): void {
  const [condition, pair] = troubleOf(call, String(model)) ?? []
  if (condition === undefined || pair === undefined) return
  const isOther = call.varied('models/other-statuses') && condition.startsWith('model-')
  call.refuse(condition, isOther ? `400-${pair.slice(4)}` : pair)
}

const cardNumber = /\b(?:\d{4}[ -]?){3}\d{4}\b/
const prohibited = /how to build a bomb/i

/** Content that a guardrail blocks (§7.1, §7.3), and content that the model will not answer (§7.4). */
export function guard(call: Call, text: string, unsafe: string): void {
  if (cardNumber.test(text)) {
    const isWrong = call.broken('guardrails/400-blocked#extras')
    const extras = isWrong
      ? { entity_type: 17 }
      : { guardrail_name: 'pii', entity_type: 'CREDIT_CARD' }
    const message = { extras, key: 'fail.guardrail.blocked' }
    call.refuse('guardrails/400-blocked', '400-GuardrailBlockedError', [], message)
  }
  if (prohibited.test(text)) call.refuse(unsafe, '400-CompletionModelUnsafeRequestError')
}

/** A generated text: the same for the same request, unless a variant makes it vary or stay empty. */
export function generated(call: Call, text: string): string {
  if (call.varied('generation/empty')) return ''
  return call.varied('generation/varying') ? `${text} (${countUp(call.world, 'texts')})` : text
}
