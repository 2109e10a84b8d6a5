import { operations, type OperationId } from '../../catalogue/operations.ts'
import { UserError } from '../user-error.ts'
import { type Context, note, placed, readEnv, readNamedText } from './context.ts'
import { isKeyPerOperation } from './declared.ts'
import { keyProblem } from './headers.ts'
import type { KeySource, KeySources, KeyValue, TargetFile } from './model.ts'

/** How a key is written in its place, if no environment variable has it already. */
export const labels = {
  full: '$CONFORM_API_KEY',
  expired: '$CONFORM_KEY_EXPIRED',
  restricted: '$CONFORM_KEY_RESTRICTED',
  other: '[redacted]',
} as const

/** Reads a key, or asks its command or function for the first time; whatever it is becomes a secret. */
export async function resolveKey(context: Context, member: string, value: KeyValue, label: string): Promise<KeySource> {
  const place = placed(context, member)
  if (typeof value === 'string') return fixedKey(context, place, value, label)
  if (typeof value === 'object' && 'env' in value) {
    const from = `${place} (from the environment variable ${value.env})`
    return fixedKey(context, from, readEnv(context, value.env, place), `$${value.env}`)
  }
  if (typeof value === 'object' && 'file' in value) {
    const text = await readNamedText(context.dir, value.file, place)
    return fixedKey(context, `${place} (from the file ${value.file})`, text.replace(/\r?\n$/, ''), label)
  }
  context.labels.set(member, label)
  context.dynamic.add(member, value, place)
  await context.dynamic.read(member)
  return { label, dynamic: member }
}

function fixedKey(context: Context, from: string, value: string, label: string): KeySource {
  const problem = keyProblem(value)
  if (problem !== undefined) throw new UserError(`${from} ${problem}`)
  note(context, from, { value, label })
  return { label, value }
}

/** The keys of a run. The full one: `-k`, else `keys.full`, else `CONFORM_API_KEY`, else none. */
export async function resolveKeys(context: Context, { keys = {} }: TargetFile, given?: string): Promise<KeySources> {
  const full = await resolveFull(context, keys.full, given)
  const { expired } = keys
  return {
    ...(full && { full }),
    ...(expired !== undefined && { expired: await resolveKey(context, 'keys.expired', expired, labels.expired) }),
    restricted: await resolveRestricted(context, keys.restricted),
  }
}

async function resolveFull(
  context: Context,
  declared: KeyValue | undefined,
  given?: string,
): Promise<KeySource | undefined> {
  if (given !== undefined) {
    const full = fixedKey(context, 'the key on the command line', given, labels.full)
    // Not used, but still a secret.
    if (typeof declared === 'string')
      note(context, placed(context, 'keys.full'), { value: declared, label: labels.other })
    return full
  }
  if (declared !== undefined) return resolveKey(context, 'keys.full', declared, labels.full)
  const fromEnv = context.env['CONFORM_API_KEY'] ?? ''
  return fromEnv === ''
    ? undefined
    : fixedKey(context, 'the environment variable CONFORM_API_KEY', fromEnv, labels.full)
}

async function resolveRestricted(
  context: Context,
  declared: NonNullable<TargetFile['keys']>['restricted'],
): Promise<Partial<Record<OperationId, KeySource>>> {
  if (declared === undefined) return {}
  if (!isKeyPerOperation(declared)) {
    const key = await resolveKey(context, 'keys.restricted', declared, labels.restricted)
    return Object.fromEntries(operations.map(({ id }) => [id, key]))
  }
  const resolved: Partial<Record<OperationId, KeySource>> = {}
  for (const [id, value] of Object.entries(declared) as [OperationId, KeyValue][]) {
    resolved[id] = await resolveKey(context, `keys.restricted.${id}`, value, labels.restricted)
  }
  return resolved
}
