import type { Exchange } from '../../harness/engine/exchange.ts'
import { sendWithStaleRetry } from '../../harness/engine/send.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import type { Run } from '../../harness/engine/run.ts'
import { type Conflict, readSettled, showsInProgress } from './conflict.ts'
import type { Job } from './model.ts'
import { sameId } from './seen-jobs.ts'

/** How many creations start together. */
const burstSize = { full: 6, quick: 3 }

/** What is sent together. */
export interface Burst {
  make(): Promise<Probe>
  readonly requirement: string
  /** Each on a connection of its own: for a target that closes connections without saying so. */
  readonly fresh: boolean
}

/**
 * Sends several requests at the very same time: the semaphore's places are taken first, and connections opened by reads,
 * so that a gap of a millisecond between a server's check and its set is met.
 */
export async function sendBurst(run: Run, { make, requirement, fresh }: Burst): Promise<Exchange[]> {
  const size = Math.min(burstSize[run.options.depth], run.client.semaphore.size)
  run.client.breaker.check('jobs.create')
  await run.client.throttle.pass('jobs.create', run.life.signal)
  const probes = await Promise.all(Array.from({ length: size }, make))
  const release = await run.client.semaphore.acquire(run.life.signal, { count: size, urgent: true })
  const options = { hasPlace: true, unpaced: true, fresh }
  try {
    if (!fresh) await openConnections(run, size)
    return await Promise.all(
      probes.map((probe) => sendWithStaleRetry(run, probe, { requirement, role: 'probe' }, options)),
    )
  } finally {
    release()
  }
}

async function openConnections(run: Run, count: number): Promise<void> {
  const read = await operationProbe(run, 'files.list', {})
  const purpose = {
    requirement: null,
    role: 'setup',
    unobserved: run.target.absent['files.list'] !== undefined,
  } as const
  const open = (): Promise<Exchange> => sendWithStaleRetry(run, read, purpose, { hasPlace: true, unpaced: true })
  await Promise.allSettled(Array.from({ length: count }, open))
}

const row = 'jobs.create/409-atomic'

/** Of two granted jobs, one reading of the second as in progress between two of the first. */
export async function proveOverlap({ run, found }: Conflict, first: Job, second: Job): Promise<void> {
  const finding = found.atomic
  if (sameId(first.id, second.id)) {
    finding.inconclusive = `two concurrent creations gave the same id, ${first.id}: no reading tells them apart`
    return
  }
  const shown: boolean[] = []
  for (const job of [first, second, first]) shown.push(showsInProgress(await readSettled(run, job, row), job))
  if (shown.includes(false)) {
    finding.inconclusive = 'two concurrent creations were granted, but the jobs ended before they could be read'
    return
  }
  finding.failure = {
    exchange: second.creation,
    expected: '409 BadRequest for all but one of several concurrent creations',
    what: `with a valid body, at the same time as others; jobs ${first.id} and ${second.id} were then both read as in progress`,
  }
}
