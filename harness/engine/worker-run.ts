import { NotExercised } from './outcome.ts'
import type { ReadDynamicKey } from './keys.ts'
import type { Target } from '../target/model.ts'
import { openBridge, type Bridge } from './bridge.ts'
import { createRun } from './create-run.ts'
import { factsOf } from './facts.ts'
import type { Run, RunOptions } from './run.ts'

/** What the command line hands to the worker. */
export interface WorkerInput {
  readonly target: Target
  readonly options: RunOptions
  /** Name of the channel between them. */
  readonly channel: string
}

export interface WorkerRun {
  readonly run: Run
  /** Tells the command line what is known by now. */
  report(): void
  close(): void
}

/** A run inside the worker: it can be ended from outside, and asks outside for keys that a command or a function gives. */
export function openWorkerRun({ target, options, channel }: WorkerInput): WorkerRun {
  const waiting = new Map<number, { resolve(value: string): void; reject(error: Error): void }>()
  let asked = 0
  const bridge: Bridge = openBridge(channel, (message) => {
    if (message.kind === 'end') run.end(message.cause, message.reason)
    if (message.kind !== 'key') return
    const asker = waiting.get(message.ask)
    waiting.delete(message.ask)
    if (message.value === undefined) asker?.reject(new NotExercised(message.problem ?? 'the key was not given'))
    else asker?.resolve(message.value)
  })
  const readDynamic: ReadDynamicKey = (name) =>
    new Promise((resolve, reject) => {
      waiting.set(++asked, { resolve, reject })
      bridge.post({ kind: 'key?', name, ask: asked })
    })
  const run = createRun(target, options, readDynamic)
  return {
    run,
    report: () => bridge.post({ kind: 'facts', facts: factsOf(run) }),
    close() {
      bridge.post({ kind: 'closed' })
      bridge.close()
    },
  }
}
