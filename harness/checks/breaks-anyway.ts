import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import {
  describeResponse,
  type Exchange,
  isOwnBreakdown,
  NotExercised,
  oncePerRun,
  orElse,
  pause,
  type Run,
  ask,
} from '../engine/index.ts'
import { control, countsAsGranted } from './control.ts'
import { wronglyRefused } from './upload.ts'
import { isDeclared } from './valid-request.ts'

/** How long a server that broke may take to grant anything again: one that never does was broken by what it was sent. */
const recovery = { tries: 4, pauseMs: 500 }
/** Valid requests in a row: what breaks on every fifth request, or on more of them, breaks on one of these. */
const inARow = 5

/** The answer to a valid request that broke as well, if one did; one that gets no answer excuses nothing. Looked for once a run, when something broke. */
function breaksOnValid(run: Run, operation: OperationId): Promise<Exchange | undefined> {
  return oncePerRun(run, `valid requests of ${operation} after one that broke`, () =>
    orElse(run, async () => {
      if (!isDeclared(run, operation)) return undefined
      const { state, exchange, valid } = await control(run, operation)
      if (state !== 'granted') return exchange && isOwnBreakdown(exchange) ? exchange : undefined
      const send = async (): Promise<Exchange> =>
        ask(run, await valid(), { requirement: null, role: 'control' })
      let sent = await send()
      for (let tries = 1; tries < recovery.tries && !countsAsGranted(sent); tries++) {
        await pause(run, recovery.pauseMs)
        sent = await send()
      }
      if (!countsAsGranted(sent)) return undefined
      for (let count = 1; count < inARow && countsAsGranted(sent); count++) sent = await send()
      if (!isOwnBreakdown(sent)) return undefined
      // Generated answers vary: one that breaks may be followed by one that does not.
      if (operationOf(operation).effect !== 'generates') wronglyRefused(run).push(sent)
      return sent
    }),
  )
}

/** How a valid request broke, as this one did: then its input is not to blame. */
export async function breakdownAnyway(run: Run, broken: Exchange): Promise<Exchange | undefined> {
  const { operation } = broken.probe
  return operation !== null && isOwnBreakdown(broken) ? breaksOnValid(run, operation) : undefined
}

/** Throws `NotExercised` if what the operation answered is no matter of its input: a valid request is answered so as well. */
export async function requireOfInput(run: Run, broken: Exchange): Promise<void> {
  const valid = await breakdownAnyway(run, broken)
  if (!valid) return
  throw new NotExercised(
    `valid requests are answered ${describeResponse(valid)} now and then as well: that says nothing about the input`,
  )
}
