import { type Answer, Ending, envelope, lostAnswer, type Call } from './call.ts'
import { readBytes, readJson } from './read-body.ts'
import { generating, words } from '../switches/table.ts'
import { simulationOf } from '../declared/scenarios.ts'
import { countUp, ownAccount, type Owned } from './world.ts'
import { verify } from './keys.ts'

const bucketSize = 5

const blocked = {
  extras: { guardrail_name: 'safety', entity_type: 'PROMPT_ATTACK' },
  key: 'fail.guardrail.blocked',
}

/** Conditions that a header requests: `x-simulate` (`declared/scenarios.ts`), `x-rate-bucket` (a real limit). */
function simulate(call: Call): void {
  const asked = call.request.header('x-simulate')
  if (asked !== undefined) {
    const simulation = simulationOf(call.operation, asked)
    if (!simulation) call.reject('400-BadRequest', `x-simulate knows no ${asked}`)
    const { condition, usual } = simulation
    const isBlocked = condition === 'guardrails/400-blocked-by-provider'
    call.refuse(condition, usual, isBlocked ? blocked : {})
  }
  const bucket = call.request.header('x-rate-bucket')
  if (bucket !== undefined && countUp(call.world, `bucket ${bucket}`) > bucketSize) {
    call.refuse('429-quota-exceeded', '429-QuotaExceeded')
  }
}

export interface Operation<Found extends Owned = Owned> {
  readonly id: string
  readonly method?: 'GET'
  readonly paths: readonly string[]
  readonly body?: 'raw'
  readonly members?: readonly string[]
  /** The requirement for the valid request, if every request of the operation depends on it. */
  requirement?(call: Call): string | undefined
  refused?(call: Call, status: number): void | Promise<void>
  gone?(call: Call): void
  find?(call: Call): Found
  readonly foreign?: string
  check?(call: Call): void
  fit?(call: Call, found: Found): void | Promise<void>
  ready?(call: Call, found: Found): void
  run(call: Call, found: Found): Answer | Promise<Answer>
  /** A plain success, for a server that should have refused; default: `{}`. */
  grant?(call: Call): Answer
}

const usual = 'authenticate authorize simulate read find access check fit ready'

const orders: Readonly<Record<string, string>> = {
  'order/body-first': 'read check authenticate authorize simulate find access fit ready',
  'order/existence-first': 'find authenticate authorize access simulate read check fit ready',
  'order/existence-before-body': 'authenticate authorize find access simulate read check fit ready',
  'order/state-first': 'authenticate authorize simulate find access ready read check fit',
  'order/rights-last': 'authenticate simulate read find access check fit ready authorize',
}

function isPlain(call: Call): boolean {
  return Object.keys(call.request.query()).length === 0 && call.body['query_config'] === undefined
}

/** A prime, so that repeated rounds hit different requests. */
const metEvery = 17

const keyless = ['no-errors', 'bare-errors', 'without-key', 'unlisted-keys']

function meets(what: string, { world, operation }: Call, among?: readonly string[]): boolean {
  const variant = `generation/${what}-now-and-then`
  if (!world.switches.varied(variant) || among?.includes(operation) === false) return false
  return countUp(world, variant) % metEvery === 0
}

function meetGuardrails(call: Call): void {
  if (meets('input-blocked', call, generating)) call.reject('400-GuardrailBlockedError')
  // Only its key distinguishes a provider's block from another refusal.
  const isTold = !keyless.some((envelope) => call.varied(`envelope/${envelope}`))
  if (isTold && meets('provider-blocked', call))
    throw new Ending(envelope('400-BadRequest', blocked))
  if (meets('model-fails', call)) call.reject('500-CompletionModelInternalError')
}

function breakGranted(call: Call): void {
  call.rejectIf('2xx-accepted', true)
  if (call.account !== ownAccount) return
  const granted = countUp(call.world, `${call.operation} granted`)
  call.breakIf('2xx-accepted#first-only', granted > 1)
  call.rejectIf('2xx-accepted#later-400', granted > 1)
  call.breakIf('2xx-accepted#every-sixth', granted % 6 === 0)
  // Answers are cached, and an identical request breaks the cache.
  const same = `${call.operation} ${JSON.stringify(call.body)}`
  if (call.broken('2xx-accepted#once') && countUp(call.world, same) > 1)
    throw new Error('it is kept already')
  const hasRefused = call.world.counts.has(`${call.operation} refused`)
  call.rejectIf('2xx-accepted#after-refusal', hasRefused)
}

export function checkAccess(call: Call, { account }: Owned, condition: string): void {
  if (account !== call.account) call.refuse(condition, '403-InsufficientAccessRights')
}

export async function perform<Found extends Owned>(
  operation: Operation<Found>,
  call: Call,
): Promise<Answer> {
  const { switches } = call.world
  let found: Found | undefined
  // In each order, `find` comes before every step that uses its result.
  const steps: Readonly<Record<string, () => void | Promise<void>>> = {
    authenticate: () => authenticate(call),
    authorize: () => authorize(call),
    simulate: () => simulate(call),
    read: () => {
      if (operation.method) return
      return operation.body === 'raw' ? readBytes(call) : readJson(call, operation.members)
    },
    find: () => {
      found = operation.find?.(call)
    },
    access: () => {
      if (operation.foreign !== undefined) checkAccess(call, found as Found, operation.foreign)
    },
    check: () => {
      meetGuardrails(call)
      return operation.check?.(call)
    },
    fit: () => operation.fit?.(call, found as Found),
    ready: () => operation.ready?.(call, found as Found),
  }
  try {
    operation.gone?.(call)
    for (const step of words(switches.variedOf(orders) ?? usual)) await steps[step]?.()
    const usualRequirement = isPlain(call) ? '2xx-accepted' : undefined
    const requirement = operation.requirement ? operation.requirement(call) : usualRequirement
    const lost = requirement && lostAnswer(switches, `${operation.id}/${requirement}`)
    if (lost) return lost
    if (requirement === '2xx-accepted') breakGranted(call)
    const answer = await operation.run(call, found as Found)
    if (meets('blocked', call, generating)) return envelope('400-GuardrailBlockedError')
    const isEnvelope = requirement === '2xx-accepted' && call.broken('2xx-accepted#envelope')
    return isEnvelope ? envelope('200-BadRequest') : answer
  } catch (error) {
    if (!(error instanceof Ending)) throw error
    if (error.answer.status === 400) countUp(call.world, `${operation.id} refused`)
    await operation.refused?.(call, error.answer.status)
    return error.answer
  }
}

/** §5.1, §5.2: a bearer key that we issued and that has not expired. */
async function authenticate(call: Call): Promise<void> {
  const header = call.request.header('authorization')
  if (header === undefined) call.refuse('401-missing-credentials')
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  // Every JWT begins like this (an object in base64url); a damaged one may have another letter case.
  if (token === undefined || !/^eyJ/i.test(token)) {
    const isUnknown =
      call.varied('keys/told-by-parts') && /^Bearer (?:\S+ |\w+\.\w+\.\w+$)/i.test(header)
    call.refuse('401-malformed-key', isUnknown ? '401-BadToken' : '401-BadCredentials')
  }
  const key = await verify(token)
  if (typeof key === 'string') call.refuse(`401-${key}-key`, '401-BadToken')
  call.key = key
}

/** §5.3: the key has the permission for the operation. */
function authorize(call: Call): void {
  const permissions = call.key?.permissions ?? []
  if (!permissions.includes('*') && !permissions.includes(call.operation))
    call.refuse('403-insufficient-rights')
}
