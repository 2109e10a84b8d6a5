import type { OperationId } from '../../catalogue/operations.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import { jsonOf, NotExercised, type Probe, type Run } from '../engine/index.ts'
import { withBody } from './conditions.ts'
import { randomOf, seedFor } from './seed.ts'

/** The pointer of a declared role; undefined if it is not declared and has no default. */
export function pointerOf(run: Run, operation: OperationId, role: string): string | undefined {
  return run.target.operations[operation]?.fields[role]
}

export function valueAt(run: Run, operation: OperationId, role: string, body: unknown): unknown {
  return getAt(body, pointerOf(run, operation, role) ?? `/${role}`)
}

/** The valid body with another value at the role; the member is added if the body lacks it, and removed for `undefined`. */
export function atRole(run: Run, probe: Probe, role: string, value: unknown): Probe {
  const pointer = probe.operation === null ? undefined : pointerOf(run, probe.operation, role)
  if (pointer === undefined) throw new NotExercised(`declare operations.${probe.operation}.fields.${role}`)
  return withBody(probe, setAt(jsonOf(probe), pointer, value))
}

/** A word of 12 letters that names nothing: drawn from the seed. */
export function unknownWord(run: Run, name: string): string {
  const random = randomOf(seedFor(run.options.seed, name))
  return Array.from({ length: 12 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('')
}
