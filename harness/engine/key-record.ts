import type { OperationId } from '../../catalogue/operations.ts'
import type { Credential, Exchange } from './exchange.ts'
import { isThrottled } from './response.ts'

const lastAnswers = 24

/** Statuses by which a key is refused, or locked out. */
export const refusing: readonly number[] = [401, 403, 429]

interface Refusal {
  readonly sentAt: number
  readonly endedAt: number
}

/** Watches whether the full key stays accepted: a target may let it expire, or lock it out after wrong ones. */
export function createKeyWatch() {
  const accepting = new Set<OperationId>()
  let acceptedAt = -Infinity
  let wrongKey: Credential | undefined
  let refusals: Refusal[] = []
  /** Of the last answers, whether each was to a wrong key; right ones are those that were accepted. */
  const last: boolean[] = []
  /** When a request for a requirement was sent last. */
  const sentFor = new Map<string, number>()
  const looked = new Map<string, Promise<unknown>>()
  /** When the wrong keys since the last right one got their turn. */
  let wrongAt: number[] = []
  let rightKey: Promise<unknown> | undefined
  const note = (isWrong: boolean): void => {
    if (last.push(isWrong) > lastAnswers) last.shift()
  }
  return {
    accepting: accepting as ReadonlySet<OperationId>,
    /** Every answer. */
    see({ probe, purpose, response, sentAt, endedAt }: Exchange): void {
      const { credential, operation } = probe
      if (purpose.requirement !== null) sentFor.set(purpose.requirement, sentAt)
      if (!response || operation === null) return
      if (!credential.full) {
        if (credential.value === undefined) return
        note(true)
        if (response.status === 401) wrongKey = credential
      } else if (refusing.includes(response.status)) {
        // What may be answered by any 4xx, or by anything, says nothing else: the next right answer shows that the key is accepted.
        if (!purpose.expects?.some(([status]) => status === response.status))
          refusals.push({ sentAt, endedAt })
      } else if (!isThrottled(response)) {
        note(false)
        wrongAt = wrongAt.filter((at) => at > sentAt)
        accepting.add(operation)
        acceptedAt = Math.max(acceptedAt, sentAt)
        refusals = refusals.filter((refusal) => refusal.endedAt >= acceptedAt)
      }
    },
    /** One that was refused by 401; undefined if there was none yet. */
    get wrongKey(): Credential | undefined {
      return wrongKey
    },
    /** The longest row of wrong keys among the last answers. */
    get wrongRow(): number {
      let longest = 0
      let row = 0
      for (const isWrong of last) longest = Math.max(longest, (row = isWrong ? row + 1 : 0))
      return longest
    },
    /** Since when the full key has been refused by every answer to it (`performance.now()`); undefined if it is accepted. */
    get refusedSince(): number | undefined {
      return refusals.length > 0 ? Math.min(...refusals.map(({ sentAt }) => sentAt)) : undefined
    },
    /** When a request for that requirement was sent last. */
    lastSentFor: (id: string): number => sentFor.get(id) ?? -Infinity,
    /** Does the work once for each kind. */
    lookOnce<T>(kind: string, look: () => Promise<T>): Promise<T> {
      const known = (looked.get(kind) as Promise<T> | undefined) ?? look()
      looked.set(kind, known)
      return known
    },
    /** Lets a wrong key go once at most so many of them went since a right one. */
    async waitForTurn(most: number, ask: () => Promise<unknown>): Promise<void> {
      while (wrongAt.length >= most)
        await (rightKey ??= ask().finally(() => {
          rightKey = undefined
          wrongAt = []
        }))
      wrongAt.push(performance.now())
    },
  }
}

export type KeyWatch = ReturnType<typeof createKeyWatch>
