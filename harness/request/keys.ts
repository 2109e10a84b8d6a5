import type { OperationId } from '../../spec/operations.ts'
import type { Redactor } from '../redact/redactor.ts'
import { NotExercised } from '../run/outcome.ts'
import type { KeySource } from '../target/model.ts'
import type { Credential } from './probe.ts'

/** The keys of a run. Each value is known to the redactor before it is used. */
export interface Keys {
  /** False where the run has no key with full rights. */
  readonly hasFull: boolean
  /** `Bearer` and the full key; no credential at all where the run has none. */
  full(): Promise<Credential>
  /** The full key itself, for what is made from it. */
  fullKey(): Promise<string | undefined>
  /** Throw `NotExercised` where the key is not declared. */
  expired(): Promise<Credential>
  restricted(operation: OperationId): Promise<Credential>
  of(source: KeySource): Promise<Credential>
  /** Every key that is declared, as given now: nothing made from a key may equal one. */
  declared(): Promise<ReadonlySet<string>>
  /** Teaches the redactor a credential that was derived from a key. */
  learn(credential: Credential): void
}

export interface KeySources {
  readonly full?: KeySource
  readonly expired?: KeySource
  readonly restricted?: KeySource | Readonly<Partial<Record<OperationId, KeySource>>>
  /** Keys of scenarios. */
  readonly others: readonly KeySource[]
}

function isSource(value: object): value is KeySource {
  return 'get' in value
}

export function createKeys(sources: KeySources, redactor: Redactor): Keys {
  const restrictedSource = (operation: OperationId): KeySource | undefined => {
    const { restricted } = sources
    return restricted && isSource(restricted) ? restricted : restricted?.[operation]
  }
  const bearer = async (source: KeySource, full: boolean): Promise<Credential> => {
    const value = await source.get()
    redactor.add(value, source.label)
    return { value: `Bearer ${value}`, shown: `Bearer ${source.label}`, full }
  }
  const required = (source: KeySource | undefined, member: string): KeySource => {
    if (!source) throw new NotExercised(`declare ${member}`)
    return source
  }
  return {
    hasFull: sources.full !== undefined,
    full: async () => (sources.full ? bearer(sources.full, true) : { shown: '', full: false }),
    fullKey: async () => sources.full?.get(),
    expired: async () => bearer(required(sources.expired, 'keys.expired'), false),
    restricted: async (operation) => bearer(required(restrictedSource(operation), `keys.restricted (for ${operation})`), false),
    of: (source) => bearer(source, false),
    async declared() {
      const { restricted } = sources
      const lacking = restricted ? (isSource(restricted) ? [restricted] : Object.values(restricted)) : []
      const all = [sources.full, sources.expired, ...lacking, ...sources.others].filter((source) => source !== undefined)
      return new Set(await Promise.all(all.map((source) => source.get())))
    },
    learn({ value, shown }) {
      const withoutScheme = (text: string): string => text.replace(/^(Bearer|Basic) /, '')
      if (value !== undefined && value !== shown) redactor.addDerived(withoutScheme(value), withoutScheme(shown))
    },
  }
}
