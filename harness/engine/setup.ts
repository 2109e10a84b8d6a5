import { preview, getAt } from '../../schemas/json.ts'
import type { HookRequest, SetupRequest } from '../target-file/model.ts'
import { fillRequest, fillTarget } from '../target-file/saved.ts'
import type { HttpResponse } from './response.ts'
import { hintsOf } from './hints.ts'
import { type NoHookResponse, sendHookRequest } from './hook-request.ts'
import { perRun, type Run } from './run.ts'

/** Deadline of a request that prepares the target or tidies it up, in ms; a shorter one after an interrupt: the run ends soon. */
const responseMs = 15_000
const answerAfterInterruptMs = 300

interface State {
  isBegun: boolean
  readonly saved: Map<string, string>
}

const stateOf = perRun((): State => ({ isBegun: false, saved: new Map() }))

/** Sends the requests of `setup` and fills in what they save. One that fails ends the run: what comes later counts on it. */
export async function setUp(run: Run): Promise<void> {
  const state = stateOf(run)
  state.isBegun = true
  for (const [at, request] of run.target.setup.entries()) {
    const problem = await setUpBy(run, fillRequest(request, state.saved))
    if (run.life.ended) return
    if (problem === undefined) continue
    run.life.end('setup', `setup[${at}] failed (${request.method} ${request.url}): ${problem}`)
    return
  }
  run.target = fillTarget(run.target, state.saved)
  for (const value of state.saved.values()) run.objects.takenIds.add(value.toLowerCase())
}

/** The command or function that gives the key gave none. */
const withoutKey = (error: Error): NoHookResponse => ({ status: undefined, why: error.message })

/** Gives what went wrong, if anything did. */
async function setUpBy(run: Run, request: SetupRequest): Promise<string | undefined> {
  const { signal } = run.life
  const sending = { role: 'setup', requirement: null, timeoutMs: responseMs, signal } as const
  const response = await sendHookRequest(run, request, sending).catch(withoutKey)
  if (response.status === undefined) return response.why
  const json = response.json()
  const said = json.ok ? `with ${preview(json.value)}` : 'without JSON'
  if (response.status >= 400) return `it was answered ${response.status} ${said}`
  return save(request, response, said, stateOf(run).saved)
}

function save({ save: pointers }: SetupRequest, response: HttpResponse, said: string, saved: Map<string, string>) {
  const json = response.json()
  for (const [name, pointer] of Object.entries(pointers)) {
    const value = json.ok ? getAt(json.value, pointer) : undefined
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
      return `there is no text or number at ${pointer}, which "save" calls ${name}: it was answered ${response.status} ${said}`
    saved.set(name, String(value))
  }
  return undefined
}

/** Sends the requests of `teardown`, whatever became of the run, if its setup was begun. One that fails is told. */
export async function tearDown(run: Run): Promise<void> {
  const { isBegun, saved } = stateOf(run)
  if (!isBegun) return
  for (const [at, request] of run.target.teardown.entries()) {
    const filled = fillRequest(request, saved)
    // What it names was never made.
    if (/\{\w+\}/.test(filled.url)) continue
    const problem = await tearDownBy(run, filled)
    if (problem !== undefined)
      hintsOf(run).add(`teardown[${at}]`, `teardown[${at}] failed (${filled.method} ${filled.url}): ${problem}`)
  }
}

async function tearDownBy(run: Run, request: HookRequest): Promise<string | undefined> {
  const timeoutMs = run.life.ended?.cause === 'interrupted' ? answerAfterInterruptMs : responseMs
  const sending = { role: 'cleanup', requirement: null, timeoutMs } as const
  const response = await sendHookRequest(run, request, sending).catch(withoutKey)
  if (response.status === undefined) return response.why
  return response.status < 400 ? undefined : `it was answered ${response.status}`
}
