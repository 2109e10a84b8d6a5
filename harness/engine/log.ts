import type { Credential, Exchange } from './exchange.ts'
import { tpeOf } from './response.ts'

/** An answer without its content. Times are in ms, as of `performance.now()`. */
export interface Answer {
  /** Null: none of the interface. */
  readonly operation: string | null
  readonly credential: Credential
  /** Which key the request showed. */
  readonly shown: 'full' | 'other' | 'none'
  readonly requirement: string | null
  readonly status: number
  readonly tpe: string | undefined
  /** What it was sent for names that status. */
  readonly isAsked: boolean
  readonly sentAt: number
  readonly endedAt: number
  /** It is the target's own: not that of a gateway in front of it, nor to a question after its life. */
  isOwn: boolean
}

/** The answers of a run in the order of coming: what is asked of all of them together is derived from it. */
export type Log = ReturnType<typeof createLog>

export function createLog() {
  const answers: Answer[] = []
  return {
    answers: answers as readonly Answer[],
    see({ probe, purpose, response, sentAt, endedAt }: Exchange): void {
      if (!response) return
      const { operation, credential } = probe
      const { status } = response
      answers.push({
        operation,
        credential,
        shown: credential.full ? 'full' : credential.value === undefined ? 'none' : 'other',
        requirement: purpose.requirement,
        status,
        tpe: tpeOf(response),
        isAsked: purpose.expects?.some(([expected]) => expected === status) ?? false,
        sentAt,
        endedAt,
        isOwn: false,
      })
    },
    observe({ sentAt }: Exchange): void {
      const answer = answers.findLast((one) => one.sentAt === sentAt)
      if (answer) answer.isOwn = true
    },
  }
}
