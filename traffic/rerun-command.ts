import { shellWord } from '../harness/recording/curl.ts'
import type { TpeMode } from '../harness/report/model.ts'

/** The command that shows a recording's failures again; it holds no key. */
export function rerunCommand(
  file: string,
  { baseUrl, target, tpe }: { readonly baseUrl?: string; readonly target?: string; readonly tpe?: TpeMode },
): string {
  const words = ['conform', 'check', file]
  if (baseUrl !== undefined) words.push('--base-url', baseUrl)
  if (target !== undefined) words.push('--target', target)
  if (tpe === 'family') words.push('--tpe', tpe)
  return words.map(shellWord).join(' ')
}
