import { expect, test } from 'vitest'
import { heavyBodies, type Misbehaviour, oddBodies, oddStatuses, transportFaults } from './behaviours.ts'
import { judgeHostile, type Outcome } from './judge-hostile.ts'
import { proveNoKey, proveSound } from './proof.ts'
import { startRaw } from './raw-server.ts'
import type { JudgeSettings } from '../matrix/judge-reference.ts'

/** An exchange that is to miss its deadline has a short one; one that is not, one that no busy machine misses. */
const short = { limits: { timeoutMs: 500, jobTimeoutMs: 1000 } }
const long = { limits: { timeoutMs: 20_000, jobTimeoutMs: 2000 } }
/** A server that is odd everywhere is odd to each way of asking; all of them are asked where the wire itself is at fault. */
const ways = ['jobs.*', 'files.list/*', 'files.upload/2*', 'pdf.parse/2*', 'chat.create/2*', 'envelope/*']
const some = { ...long, options: { only: ways } }
/** Megabytes take time: a part of the requirements is asked for. */
const few = { ...long, options: { only: ['jobs.retrieve/*', 'files.retrieve/*', 'envelope/*'] } }

async function judge({ answer }: Misbehaviour, settings: JudgeSettings): Promise<Outcome> {
  const server = await startRaw(answer)
  try {
    return await judgeHostile(server.url, settings)
  } finally {
    await server.close()
  }
}

const endless = /for ever|silence|without a body/
const named = (behaviours: Readonly<Record<string, Misbehaviour>>): [string, Misbehaviour][] =>
  Object.entries(behaviours)

test.concurrent.each(named(transportFaults))('a fault of the transport: %s', async (name, behaviour) => {
  const outcome = await judge(behaviour, endless.test(name) ? short : long)
  expect(outcome.code).toBe(behaviour.code)
  await proveSound(outcome)
})

test.concurrent.each([...named(oddStatuses), ...named(oddBodies)])('an odd answer: %s', async (name, behaviour) => {
  const outcome = await judge(behaviour, /deep|MB|million/.test(name) ? few : some)
  expect(outcome.code).toBe(behaviour.code)
  await proveSound(outcome)
  if (name === 'an echo of the key') proveNoKey(outcome)
})

// One at a time: they keep a processor busy.
test.each(named(heavyBodies))('much to read: %s', async (_, behaviour) => {
  const outcome = await judge(behaviour, few)
  expect(outcome.code).toBe(behaviour.code)
  await proveSound(outcome)
})
