import { Redactor } from '../recording/redactor.ts'
import type { KeySource, Target } from './model.ts'

/** A redactor that knows every secret of the target, and what of its file may be shown. */
export function redactorFor({ secrets, kept }: Pick<Target, 'secrets' | 'kept'>): Redactor {
  const redactor = new Redactor()
  for (const { value, label } of secrets) redactor.add(value, label)
  for (const text of kept) redactor.keep(text)
  return redactor
}

/**
 * The key as it is now; the redactor learns it before it is used.
 * @param readDynamic asks the thread that resolved the target: `dynamicKeys.read`, over whatever channel leads there
 */
export async function readKey(
  source: KeySource,
  redactor: Redactor,
  readDynamic: (path: string) => Promise<string>,
): Promise<string> {
  if ('value' in source) return source.value
  const value = await readDynamic(source.dynamic)
  redactor.add(value, source.label)
  return value
}
