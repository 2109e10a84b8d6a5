import { expect, test } from 'vitest'
import {
  heavyBodies,
  type Misbehaviour,
  oddBodies,
  oddStatuses,
  transportFaults,
} from './behaviours.ts'
import { judgeHostile } from './judge-hostile.ts'
import { proveJunit, proveSound } from './proof.ts'
import { startRaw } from '../support/raw-server.ts'
import { createTransport, type Transport } from '../../harness/http/index.ts'
import type { JudgeSettings } from '../matrix/judge-reference.ts'

/**
 * Waits no longer for any answer, whatever the run would give it: these never come. An exchange that is to miss its
 * deadline has a short one; one that is not, one that no busy machine misses.
 */
function short(url: string): JudgeSettings {
  const transport = createTransport({ baseUrl: url, connections: 9, bodyLimit: 8 * 1024 * 1024 })
  const send: Transport['send'] = (request, options) =>
    transport.send(request, { ...options, timeoutMs: Math.min(options.timeoutMs, 250) })
  return { limits: { jobTimeoutMs: 500 }, transport: { ...transport, send } }
}

const long = { limits: { timeoutMs: 20_000, jobTimeoutMs: 2000 } }
/** A server that is odd everywhere is odd to each way of asking. */
const ways = [
  'jobs.*',
  'files.list/*',
  'files.upload/2*',
  'pdf.parse/2*',
  'chat.create/2*',
  'envelope/*',
]
const some = { ...long, options: { only: ways, depth: 'quick' } } as const
/** Megabytes take time: a part of the requirements is asked for. */
const few = {
  // Eight of them at once would come slower than the suite waits, on a busy machine.
  limits: { ...long.limits, concurrency: 2 },
  options: {
    only: ['jobs.retrieve/2*', 'jobs.retrieve/4*-*-job', 'files.retrieve/2*', 'envelope/*'],
  },
}

function settingsFor(name: string, url: string): JudgeSettings {
  if (/for ever|silence|without a body/.test(name)) return short(url)
  // The one fault that moves answers to other requests: all requirements are asked for.
  if (name.startsWith('two answers')) return { ...long, options: { depth: 'quick' } }
  if (/never ends/.test(name)) return { ...some, limits: { ...long.limits, jobTimeoutMs: 300 } }
  return /deep|MB|60 KB|million|thousands/.test(name) ? few : some
}

/** The run of such a server has a verdict, and its reports can be read. */
async function prove(name: string, { answer, code }: Misbehaviour, given?: JudgeSettings) {
  const server = await startRaw(answer)
  try {
    const outcome = await judgeHostile(server.url, given ?? settingsFor(name, server.url))
    expect(outcome.code, outcome.report.exit.because).toBe(code)
    proveSound(outcome, name)
  } finally {
    await server.close()
  }
}

const named = (behaviours: Readonly<Record<string, Misbehaviour>>): [string, Misbehaviour][] =>
  Object.entries(behaviours)

/** Megabytes in each answer: at once with others, they come slower than the suite waits. */
const isHeavy = ([name]: readonly [string, Misbehaviour]): boolean =>
  /deep|MB|60 KB|million/.test(name)
const all = [...named(transportFaults), ...named(oddStatuses), ...named(oddBodies)]

test.concurrent.each(all.filter((one) => !isHeavy(one)))('an odd answer: %s', (name, behaviour) =>
  prove(name, behaviour),
)

// One at a time: they keep a processor busy.
test.each([...all.filter(isHeavy), ...named(heavyBodies)])('much to read: %s', (name, behaviour) =>
  prove(name, behaviour, few),
)

test('the JUnit report of each of these runs is one', proveJunit)
