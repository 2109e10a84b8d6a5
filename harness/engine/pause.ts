import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from './run.ts'

/** Waits that many ms; throws the end of the run if that comes first. */
export async function pause({ life: { signal } }: Pick<Run, 'life'>, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
  signal.throwIfAborted()
}
