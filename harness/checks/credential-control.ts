import type { OperationId } from '../../catalogue/operations.ts'
import type { Probe } from '../engine/probe.ts'
import { effectOf } from '../engine/effect-of.ts'
import { placeholderRequest } from './placeholder.ts'
import type { Run } from '../engine/run.ts'
import { isDeclared } from './apply-scenario.ts'
import { sendThroughGate } from '../engine/check-context.ts'
import { type Control, control, countsAsGranted, saidBy } from './control.ts'

/**
 * The control of faults of credentials: the very same request with the full key. If nothing is declared, `{}` or an
 * unknown id is the placeholder: whatever answers it but 401 and 403 shows that the key was looked at first, or not at all.
 */
export async function credentialControl(run: Run, operation: OperationId): Promise<Control> {
  const reading = run.options.readOnly && effectOf(run, operation) !== 'none'
  // A run that only reads cannot make a job to be read: its placeholder is used.
  const makeable = !(reading && operation === 'jobs.retrieve')
  if (run.keys.hasFull && makeable && isDeclared(run, operation)) return control(run, operation)
  return run.once(`credential control ${operation}`, async () => {
    const placeholder = await placeholderRequest(run, operation)
    const valid = async (): Promise<Probe> => placeholder
    if (!run.keys.hasFull) return { state: 'none', said: 'not sent: no key', valid }
    if (reading) return { state: 'none', said: 'not sent: --read-only', valid }
    const exchange = await sendThroughGate(run, placeholder, { requirement: null, role: 'control' })
    const granted = countsAsGranted(exchange)
    return { state: granted ? 'granted' : 'refused', said: saidBy(exchange), exchange, valid }
  })
}
