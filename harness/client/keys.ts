import type { OperationId } from '../../catalogue/operations.ts'
import type { Redactor } from '../recording/index.ts'
import { UserError } from '../user-error.ts'
import { NotExercised, type Credential, type Answer, type Journal } from '../journal/index.ts'
import type { Lifetime } from './outcome.ts'
import type { KeySource, Secret, Target } from '../target/index.ts'

export function createKeys(target: Target, redactor: Redactor, life: Pick<Lifetime, 'end'>) {
  const sources = target.keys
  let failed: NotExercised | undefined
  const read = async (source: KeySource): Promise<string> => {
    if ('value' in source) return source.value
    if (failed) throw failed
    try {
      const value = await source.ask()
      redactor.add(value, source.label)
      return value
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      // Each request would ask for it again.
      life.end('key', error.message)
      throw (failed = new NotExercised(error.message))
    }
  }
  const written = (value: string, keySource: KeySource, full: boolean): Credential => ({
    value: `Bearer ${value}`,
    shown: `Bearer ${keySource.label}`,
    full,
  })
  const bearer = async (source: KeySource, full: boolean): Promise<Credential> =>
    written(await read(source), source, full)
  const secret = async (source: KeySource | undefined): Promise<Secret | undefined> =>
    source && { value: await read(source), label: source.label }
  const { full } = sources
  const fixed = full && 'value' in full ? written(full.value, full, true) : undefined
  const required = (source: KeySource | undefined, member: string): KeySource => {
    if (!source) throw new NotExercised(`declare ${member}`)
    return source
  }
  return {
    hasFull: full !== undefined,
    full: async (): Promise<Credential> =>
      fixed ?? (full ? bearer(full, true) : { shown: '', full: false }),
    /** The current credential: a short-lived key may have been replaced. */
    current: (credential: Credential): Credential | Promise<Credential> =>
      credential.full ? (fixed ?? bearer(full!, true)) : credential,
    fullKey: (): Promise<Secret | undefined> => secret(sources.full),
    expiredKey: (): Promise<Secret | undefined> => secret(sources.expired),
    restrictedKey: (operation: OperationId): Promise<Secret | undefined> =>
      secret(sources.restricted[operation]),
    expired: async (): Promise<Credential> =>
      bearer(required(sources.expired, 'keys.expired'), false),
    restricted: async (operation: OperationId): Promise<Credential> =>
      bearer(required(sources.restricted[operation], `keys.restricted (for ${operation})`), false),
    of: (source: KeySource): Promise<Credential> => bearer(source, false),
    /** All declared keys: no derived key may equal one. */
    async declared(): Promise<ReadonlySet<string>> {
      const ofScenarios = Object.values(target.scenarios).map((one) => one.key)
      const all = [
        sources.full,
        sources.expired,
        ...Object.values(sources.restricted),
        ...ofScenarios,
      ]
      return new Set(await Promise.all(all.filter((source) => source !== undefined).map(read)))
    },
    learn(credential: Credential): void {
      const withoutScheme = (text: string): string => text.replace(/^(Bearer|Basic) /, '')
      if (credential.value !== undefined && credential.value !== credential.shown)
        redactor.add(withoutScheme(credential.value), withoutScheme(credential.shown))
    },
  }
}

export type Keys = ReturnType<typeof createKeys>

/** Answers of gateways or overload, before any key is checked. */
const saysNothing: readonly number[] = [413, 429, 502, 503, 504]

const keyRefused =
  'the key is not accepted: every request with it returned 401; if the key is right, a proxy may be removing the Authorization header'
const keyRead =
  'the key is not accepted: every request with it returned 401 BadToken, so the service itself refused it; the key may have expired'

/**
 * Why every answer to the full key was 401; undefined if one was not. A distinct error (§5) shows that the service has
 * read it.
 */
export function keyRefusal(journal: Pick<Journal, 'answers'>): string | undefined {
  let refusal: string | undefined
  for (const { isOwn, shown, operation, status, tpe } of journal.answers) {
    // A server may answer unknown paths before checking keys.
    if (!isOwn || shown !== 'full' || operation === null || saysNothing.includes(status)) continue
    if (status !== 401) return undefined
    refusal = tpe === 'BadToken' && refusal !== keyRefused ? keyRead : keyRefused
  }
  return refusal
}

export const refusing: readonly number[] = [401, 403, 429]

export const isAccepting = ({ shown, operation, status }: Answer): boolean =>
  shown === 'full' && operation !== null && !refusing.includes(status) && status !== 503

const acceptedAt = (journal: Pick<Journal, 'answers'>): number =>
  journal.answers.reduce((at, one) => (isAccepting(one) ? Math.max(at, one.sentAt) : at), -Infinity)

/** Since when every answer has refused the full key (`performance.now()`); undefined if accepted. */
export function refusedSince(journal: Pick<Journal, 'answers'>): number | undefined {
  const accepted = acceptedAt(journal)
  // Where any 4xx or any answer is allowed, it proves nothing: the next right answer shows that the key is accepted.
  const refusals = journal.answers.filter(
    ({ shown, operation, status, isAsked, endedAt }) =>
      shown === 'full' &&
      operation !== null &&
      refusing.includes(status) &&
      !isAsked &&
      endedAt >= accepted,
  )
  return refusals.length > 0 ? Math.min(...refusals.map((refusal) => refusal.sentAt)) : undefined
}

const isOfWrongKey = (answer: Answer): boolean =>
  answer.shown === 'other' && answer.operation !== null

export const wrongKeyIn = (journal: Pick<Journal, 'answers'>): Credential | undefined =>
  journal.answers.findLast((one) => isOfWrongKey(one) && one.status === 401)?.credential

const lastAnswers = 24

/** The longest series of wrong keys among the last answers, between accepted ones. */
export function wrongRow(journal: Pick<Journal, 'answers'>): number {
  const last = journal.answers
    .filter((one) => isOfWrongKey(one) || isAccepting(one))
    .slice(-lastAnswers)
  let longest = 0
  let row = 0
  for (const one of last) longest = Math.max(longest, (row = isOfWrongKey(one) ? row + 1 : 0))
  return longest
}
