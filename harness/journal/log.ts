import type { Credential, Exchange } from './exchange.ts'
import { tpeOf } from './response.ts'

export interface Answer {
  /** Null: outside the interface. */
  readonly operation: string | null
  readonly credential: Credential
  readonly shown: 'full' | 'other' | 'none'
  readonly requirement: string | null
  readonly status: number
  readonly tpe: string | undefined
  readonly isAsked: boolean
  readonly sentAt: number
  readonly endedAt: number
  /** The target's own: not a gateway's, and not to a liveness question. */
  isOwn: boolean
}

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
