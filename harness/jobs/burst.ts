import type { Exchange } from '../ask/exchange.ts'
import { sendSurely } from '../ask/send-once.ts'
import type { Probe } from '../request/probe.ts'
import { operationProbe } from '../request/operation-probe.ts'
import type { Run } from '../run/run.ts'

/** How many creations start together. */
export const burstSize = 6

/**
 * Sends several requests at the very same time: the ceiling's places are taken first, and connections opened by reads,
 * so that a gap of a millisecond between a server's check and its set is met.
 */
export async function sendBurst(run: Run, make: () => Promise<Probe>, requirement: string): Promise<Exchange[]> {
  const size = Math.min(burstSize, run.ceiling.size)
  run.silence.check('jobs.create')
  await run.throttle.pass('jobs.create', run.signal)
  const probes = await Promise.all(Array.from({ length: size }, make))
  const leave = await run.ceiling.enter(run.signal, { count: size, urgent: true })
  const warm = await operationProbe(run, 'files.list', {})
  try {
    await Promise.allSettled(
      probes.map(() =>
        sendSurely(
          run,
          warm,
          { requirement: null, role: 'setup', unseen: run.target.absent['files.list'] !== undefined },
          { hasPlace: true, unpaced: true },
        ),
      ),
    )
    return await Promise.all(
      probes.map((probe) => sendSurely(run, probe, { requirement, role: 'probe' }, { hasPlace: true, unpaced: true })),
    )
  } finally {
    for (let place = 0; place < size; place++) leave()
  }
}
