import { setTimeout as sleep } from 'node:timers/promises'
import type { OperationId } from '../../catalogue/operations.ts'
import { fillRequest, type HookRequest } from '../target-file/index.ts'
import { sendHookRequest } from './hook-request.ts'
import { NotExercised } from './outcome.ts'
import { isThrottled } from './response.ts'
import type { Run } from './run.ts'
import { longestPauseMs, retryAfter } from './throttle.ts'

/** Clean-up requests under way at once. */
const atOnce = 8
/** A clean-up request that is throttled is sent again so often. */
const maxTries = 5
/** Bound on all clean-up when somebody waits for the end of the run, and on its repetitions otherwise, in ms. */
const afterInterruptMs = 600
const repeatsMs = 60_000

/** Removes what the run created, by the requests that the target file declares for it; notes of each object why it was not removed. */
export async function cleanUp(run: Run): Promise<void> {
  const { created, cleanups } = run.objects
  const waiting = created.flatMap((object) => {
    const { cleanup = [] } = run.target.operations[object.operation as OperationId] ?? {}
    const requests = cleanup.map((request) => fillRequest(request, new Map([['id', object.id]])))
    return requests.length > 0 ? [{ object, requests }] : []
  })
  const begunAt = performance.now()
  for (const { object } of waiting) cleanups.set(object, 'the run ended before')
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next && !isOver(run, begunAt); next = waiting.shift())
      try {
        cleanups.set(next.object, await removed(run, next.requests, begunAt))
      } catch (error) {
        if (!(error instanceof NotExercised)) throw error
        // Nothing gives the key any more: it is not asked for again.
        for (const { object } of [next, ...waiting.splice(0)]) cleanups.set(object, error.message)
      }
  }
  await allEnded(Array.from({ length: Math.min(atOnce, run.client.semaphore.size) }, worker))
}

/** Waits until all of them have ended, also if one throws; throws what the first of those did. */
export async function allEnded(works: readonly Promise<unknown>[]): Promise<void> {
  for (const one of await Promise.allSettled(works)) if (one.status === 'rejected') throw one.reason
}

/** Somebody waits for the end of the run. */
function isHurried({ life: { ended } }: Run): boolean {
  return ended?.cause === 'interrupted' || ended?.cause === 'lost'
}

function isOver(run: Run, begunAt: number): boolean {
  return isHurried(run) && performance.now() - begunAt > afterInterruptMs
}

/** Sends the requests that remove an object; gives why it was not removed, or null if it was. */
async function removed(
  run: Run,
  requests: readonly HookRequest[],
  begunAt: number,
): Promise<string | null> {
  for (const request of requests) {
    const problem = await sendUntilDone(run, request, begunAt)
    if (problem !== null) return problem
  }
  return null
}

async function sendUntilDone(
  run: Run,
  request: HookRequest,
  begunAt: number,
): Promise<string | null> {
  for (let attempt = 0; ; attempt++) {
    const response = await sendHookRequest(run, request, { role: 'cleanup', requirement: null })
    const isRepeatable = response.status === undefined || isThrottled(response)
    const problem = response.status === undefined ? response.why : `answered ${response.status}`
    // What is not there any more is removed.
    if (response.status !== undefined && (response.status < 400 || isGone(response.status)))
      return null
    const asked = response.status === undefined ? 0 : (retryAfter(response, Date.now()) ?? 0)
    const waitMs = asked || run.options.backoffMs * 2 ** attempt
    const hasTime = performance.now() + waitMs < begunAt + repeatsMs
    if (!isRepeatable || isHurried(run) || attempt >= maxTries) return problem
    if (!hasTime || waitMs > longestPauseMs) return problem
    const { signal } = run.life
    await sleep(waitMs, undefined, signal.aborted ? {} : { signal }).catch(() => undefined)
  }
}

const isGone = (status: number): boolean => status === 404 || status === 410
