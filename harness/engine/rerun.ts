import type { Run } from './run.ts'

/** The command that shows a failure again; ids need no quoting. */
export function rerunLine(run: Run, ...ids: string[]): string {
  return `${run.options.rerun} ${[...new Set(ids)].map((id) => `--only ${id}`).join(' ')} --seed ${run.options.seed}`
}
