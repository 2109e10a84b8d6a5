import type { Call } from './call.ts'

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
