import type { Probe } from '../../harness/engine/probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { refused, withBody } from '../../harness/checks/conditions.ts'
import { sampled } from '../../harness/checks/seed.ts'
import type { ApplicationResource } from '../../harness/target-file/model.ts'
import {
  ofBodies,
  refusedByGrammar,
  refusedByKey,
  refusedByRights,
  refusedByType,
  type Refusal,
} from '../created/refusals.ts'

/** Creations of one kind, refused one after the other before one that is to be granted. */
export interface Refusals {
  readonly what: string
  readonly refusals: readonly Refusal[]
  /** From the last refusal to the creation after it, in ms; at once if nothing is said. */
  readonly afterMs?: number
  /** Looked at at each of `laterMs`. */
  readonly isLater?: true
}

function byBody(of: string, what: string, change: (valid: Probe) => Probe): Refusal {
  return { requirement: of, what, statuses: ofBodies, change }
}

/** Each kind of refusal by itself. */
export async function kindsOf(run: Run, { inputs, requiredInputs }: ApplicationResource): Promise<readonly Refusals[]> {
  const left = (input: unknown): unknown[] => inputs.filter((other) => other !== input)
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  const bodies = [
    byBody('400-missing-inputs', 'without inputs', (valid) => withBody(valid, {})),
    byBody('400-missing-body', 'without a body', (valid) => refused({ ...valid, body: '' })),
    refusedByGrammar,
    byBody('400-malformed-inputs', 'with inputs that are no array', (valid) => withBody(valid, { inputs: 'none' })),
    ...required.map((input) =>
      byBody('400-missing-required-inputs', `without ${input.id}`, (valid) => withBody(valid, { inputs: left(input) })),
    ),
  ]
  const kinds = [
    { what: 'for their body', refusals: bodies },
    { what: 'for their content type', refusals: [refusedByType] },
    { what: 'for their key', refusals: await refusedByKey(run) },
    { what: 'for the rights of their key', refusals: await refusedByRights(run, 'jobs.create') },
  ]
  const whole = kinds.filter(({ refusals }) => refusals.length > 0)
  const all = { what: 'in several ways', refusals: kinds.flatMap(({ refusals }) => refusals.slice(0, 1)) }
  return sampled({ run, requirement: { id: 'jobs.create/4xx-no-effect' } }, [
    ...whole,
    { ...all, isLater: true as const },
  ])
}
