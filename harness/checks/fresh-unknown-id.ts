import { unknownId } from './unknown-id.ts'
import type { Run } from '../engine/run.ts'

/** An unknown id of that shape: no id of the target file, none that was seen or sent before in this run. */
export function freshUnknownId(run: Run, like: string, random: () => number): string {
  const id = unknownId(like, random, run.objects.takenIds)
  run.objects.takenIds.add(id.toLowerCase())
  return id
}
