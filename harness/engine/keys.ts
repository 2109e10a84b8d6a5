import type { OperationId } from '../../catalogue/operations.ts'
import type { Redactor } from '../recording/index.ts'
import { Unjudgeable, UserError } from '../user-error.ts'
import { type Lifetime, NotExercised } from './outcome.ts'
import type { KeySource, Secret, Target } from '../target-file/index.ts'
import type { Credential, Exchange } from './exchange.ts'
import { isThrottled } from './response.ts'

/** The keys of a run. Each value is known to the redactor before it is used. */
export function createKeys(target: Target, redactor: Redactor, life: Pick<Lifetime, 'end'>) {
  const sources = target.keys
  const read = async (source: KeySource): Promise<string> => {
    if ('value' in source) return source.value
    try {
      const value = await source.ask()
      redactor.add(value, source.label)
      return value
    } catch (error) {
      // Each request would wait for it again.
      if (error instanceof Unjudgeable) life.end('key', error.message)
      throw error instanceof UserError ? new NotExercised(error.message) : error
    }
  }
  const written = (value: string, { label }: KeySource, full: boolean): Credential => ({
    value: `Bearer ${value}`,
    shown: `Bearer ${label}`,
    full,
  })
  const bearer = async (source: KeySource, full: boolean): Promise<Credential> =>
    written(await read(source), source, full)
  const secret = async (source: KeySource | undefined): Promise<Secret | undefined> =>
    source && { value: await read(source), label: source.label }
  const { full } = sources
  /** The full key, if it stays the same for the whole run: nearly every request carries it. */
  const fixed = full && 'value' in full ? written(full.value, full, true) : undefined
  const required = (source: KeySource | undefined, member: string): KeySource => {
    if (!source) throw new NotExercised(`declare ${member}`)
    return source
  }
  return {
    /** False if the run has no key with full rights. */
    hasFull: full !== undefined,
    /** `Bearer` and the full key; no credential at all if the run has none. */
    full: async (): Promise<Credential> =>
      fixed ?? (full ? bearer(full, true) : { shown: '', full: false }),
    /** The credential as it is now: a key of short life may have been followed by another. */
    current: (credential: Credential): Credential | Promise<Credential> =>
      credential.full ? (fixed ?? bearer(full!, true)) : credential,
    /** The keys themselves, for what is made from them; undefined if they are not declared. */
    fullKey: (): Promise<Secret | undefined> => secret(sources.full),
    expiredKey: (): Promise<Secret | undefined> => secret(sources.expired),
    restrictedKey: (operation: OperationId): Promise<Secret | undefined> =>
      secret(sources.restricted[operation]),
    /** Throw `NotExercised` if the key is not declared. */
    expired: async (): Promise<Credential> =>
      bearer(required(sources.expired, 'keys.expired'), false),
    restricted: async (operation: OperationId): Promise<Credential> =>
      bearer(required(sources.restricted[operation], `keys.restricted (for ${operation})`), false),
    of: (source: KeySource): Promise<Credential> => bearer(source, false),
    /** Every key that is declared, as given now: nothing made from a key may equal one. */
    async declared(): Promise<ReadonlySet<string>> {
      const ofScenarios = Object.values(target.scenarios).map(({ key }) => key)
      const all = [
        sources.full,
        sources.expired,
        ...Object.values(sources.restricted),
        ...ofScenarios,
      ]
      return new Set(await Promise.all(all.filter((source) => source !== undefined).map(read)))
    },
    /** Teaches the redactor a credential that was derived from a key. */
    learn({ value, shown }: Credential): void {
      const withoutScheme = (text: string): string => text.replace(/^(Bearer|Basic) /, '')
      if (value !== undefined && value !== shown)
        redactor.add(withoutScheme(value), withoutScheme(shown))
    },
  }
}

export type Keys = ReturnType<typeof createKeys>

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
