import { perRun, type Run } from '../engine/index.ts'
import { type Exchange, createHistory, eventOf } from '../journal/index.ts'

export const historyOf = perRun(({ target }) => createHistory(target.limits))

export function noteInHistory(run: Run, exchange: Exchange): void {
  const event = eventOf(run.target, exchange, false)
  const { purpose, probe } = exchange
  const isValid = !purpose.expects && probe.fault === undefined && probe.credential.full
  if (event?.kind !== 'use' || isValid) historyOf(run).append(event)
}
