import type { OperationId } from '../../catalogue/operations.ts'
import type { Redactor } from '../recording/redactor.ts'
import { NotExercised } from './outcome.ts'
import { readKey } from '../target/redactor-for.ts'
import type { KeySource, Target } from '../target/model.ts'
import type { Credential } from './probe.ts'

/** The keys of a run. Each value is known to the redactor before it is used. */
export interface Keys {
  /** False where the run has no key with full rights. */
  readonly hasFull: boolean
  /** `Bearer` and the full key; no credential at all where the run has none. */
  full(): Promise<Credential>
  /** The full key itself, for what is made from it. */
  fullKey(): Promise<{ readonly value: string; readonly label: string } | undefined>
  /** Throw `NotExercised` where the key is not declared. */
  expired(): Promise<Credential>
  restricted(operation: OperationId): Promise<Credential>
  of(source: KeySource): Promise<Credential>
  /** Every key that is declared, as given now: nothing made from a key may equal one. */
  declared(): Promise<ReadonlySet<string>>
  /** Teaches the redactor a credential that was derived from a key. */
  learn(credential: Credential): void
}

/** Asks the thread that resolved the target for a key that a command or a function gives. */
export type ReadDynamicKey = (name: string) => Promise<string>

export function createKeys(target: Target, readDynamic: ReadDynamicKey, redactor: Redactor): Keys {
  const sources = target.keys
  const read = (source: KeySource): Promise<string> => readKey(source, redactor, readDynamic)
  const bearer = async (source: KeySource, full: boolean): Promise<Credential> => {
    const value = await read(source)
    return { value: `Bearer ${value}`, shown: `Bearer ${source.label}`, full }
  }
  const required = (source: KeySource | undefined, member: string): KeySource => {
    if (!source) throw new NotExercised(`declare ${member}`)
    return source
  }
  return {
    hasFull: sources.full !== undefined,
    full: async () => (sources.full ? bearer(sources.full, true) : { shown: '', full: false }),
    fullKey: async () => (sources.full ? { value: await read(sources.full), label: sources.full.label } : undefined),
    expired: async () => bearer(required(sources.expired, 'keys.expired'), false),
    restricted: async (operation) =>
      bearer(required(sources.restricted[operation], `keys.restricted (for ${operation})`), false),
    of: (source) => bearer(source, false),
    async declared() {
      const ofScenarios = Object.values(target.scenarios).map(({ key }) => key)
      const all = [sources.full, sources.expired, ...Object.values(sources.restricted), ...ofScenarios]
      return new Set(await Promise.all(all.filter((source) => source !== undefined).map(read)))
    },
    learn({ value, shown }) {
      const withoutScheme = (text: string): string => text.replace(/^(Bearer|Basic) /, '')
      if (value !== undefined && value !== shown) redactor.addDerived(withoutScheme(value), withoutScheme(shown))
    },
  }
}
