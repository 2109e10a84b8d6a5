import type { OperationId } from '../../catalogue/operations.ts'
import { refused } from '../../harness/checks/conditions.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { type Credential, type Probe, withHeader } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { withCredential } from '../authentication/credentials.ts'
import { invalidForms, malformedForms, noCredential } from '../authentication/key-forms.ts'

/** A creation that a conforming target refuses, whatever it creates. */
export interface Refusal {
  /** The requirement of the operation that the fault belongs to. */
  readonly requirement: string
  /** In words that follow `refused`: `without a key`. */
  readonly what: string
  readonly statuses: readonly number[]
  change(valid: Probe): Probe | Promise<Probe>
}

/** Statuses of the answer to a body, or its label, that is wrong. */
export const ofBodies: readonly number[] = [400, 415, 422]

function byKey(requirement: string, what: string, credential: Credential): Refusal {
  const statuses = [requirement.startsWith('403') ? 403 : 401]
  return { requirement, what, statuses, change: (valid) => withCredential(valid, credential) }
}

/** Without a key, with a word that is no key, with one that nobody issued, and with the expired one. */
export async function refusedByKey(run: Run): Promise<Refusal[]> {
  const { keys, target } = run
  const full = await keys.fullKey()
  const all = await keys.declared()
  const invalid = full ? invalidForms({ full, expired: await keys.expiredKey(), all }).slice(0, 1) : []
  const malformed = malformedForms(undefined).filter(({ kind }) => kind === 'no JWT')
  for (const { credential } of [...invalid, ...malformed]) keys.learn(credential)
  return [
    byKey('401-missing-credentials', 'without a key', noCredential),
    ...malformed.map(({ credential, what }) => byKey('401-malformed-key', what, credential)),
    ...invalid.map(({ credential, what }) => byKey('401-invalid-key', what, credential)),
    ...(target.keys.expired ? [byKey('401-expired-key', 'with an expired key', await keys.expired())] : []),
  ]
}

/** With the restricted key, if one is declared for the operation. */
export async function refusedByRights({ keys }: Run, operation: OperationId): Promise<Refusal[]> {
  try {
    const credential = await keys.restricted(operation)
    return [byKey('403-insufficient-rights', 'with a key that lacks the permission', credential)]
  } catch (error) {
    if (error instanceof NotExercised) return []
    throw error
  }
}

export const refusedByType: Refusal = {
  requirement: '400-wrong-content-type',
  what: 'labelled text/plain',
  statuses: ofBodies,
  change: (valid) => refused(withHeader(valid, 'content-type', 'text/plain')),
}

export const refusedByGrammar: Refusal = {
  requirement: '400-malformed-json',
  what: 'with a bracket too many',
  statuses: ofBodies,
  change: (valid) => refused({ ...valid, body: `${String(valid.body)}}` }),
}
