import { pairsOf, type Pairs } from '../../catalogue/expected.ts'
import { operation as operationOf, type OperationId, readsOf } from '../../catalogue/operations.ts'
import type { CheckContext, Exchange, Probe, Purpose, Run, Source } from '../engine/index.ts'
import {
  describeResponse,
  effectOf,
  isBlocked,
  isBreakdown,
  isExpected,
  isGranted,
  judgePairs,
  NotExercised,
  oncePerRun,
  perRun,
  probeOf,
  ask,
  tpeOf,
} from '../engine/index.ts'
import {
  type Control,
  control,
  counterpartOf,
  countsAsGranted,
  noteControl,
  notGranted,
  operationIn,
  saidBy,
} from './control.ts'
import { requireOfInput } from './breaks-anyway.ts'
import { isGenerating } from './at-once.ts'
import { isAtOtherPath } from './other-path.ts'
import { judgeScenario } from './scenario.ts'
import { placeholderRequest, isDeclared, sharedRequest } from './valid-request.ts'

/** Sends a probe of a condition and judges the answer. */
export interface RefusalContext {
  readonly context: CheckContext
  readonly operation: OperationId
  /** The operation's valid request, fresh each time. */
  valid(): Promise<Probe>
  /**
   * @param what the one fault, in words that follow the request line: `with a valid body, but …`
   * @param expects the pairs that answer this case, if the spec names others for it than for the rest of the requirement
   * @returns whether it was granted
   */
  judge(source: Source, what: string, expects?: Pairs): Promise<boolean>
  /** How many of the cases were granted so far. */
  granted(): number
  /** Judges an answer that has come already. */
  judgeResponse(exchange: Exchange, what: string): void
}

/** Brings about what the target has to refuse, and hands each probe to the judge. */
export interface Condition {
  bringAbout(refusal: RefusalContext): Promise<unknown>
}

export function condition(bringAbout: Condition['bringAbout']): Condition {
  return { bringAbout }
}

interface Refusal {
  readonly context: CheckContext
  readonly control: Control
  /** The fault is in the key. */
  readonly ofCredentials: boolean
}

/** Judges a valid request with exactly one fault by the pairs that answer it; a scenario overrides the suite's own way to cause it. */
export async function judgeRefusal(
  context: CheckContext,
  { bringAbout }: Condition,
): Promise<void> {
  const { run, requirement, scenario } = context
  if (scenario) return judgeScenario(context, scenario)
  const operation = operationIn(context)
  const given = pairsOf(requirement, operation)
  const ofCredentials = requirement.fault === 'credentials'
  const found = await (ofCredentials ? credentialControl : control)(run, operation)
  const refusal = { context, control: found, ofCredentials }
  requireControl(refusal)
  let [named, granted] = [0, 0]
  /** True if a quick run has seen enough: one case that has a name, and one that is generated. Of keys there are few anyway. */
  const isEnough = (): boolean =>
    run.options.depth === 'quick' && !ofCredentials && !isGenerating(context) && named++ > 0
  await bringAbout({
    context,
    operation,
    valid: validOf(context, operation, found),
    granted: () => granted,
    judgeResponse: (exchange, what) => judgeCase(refusal, exchange, what, given),
    async judge(source, what, expects = given) {
      if (isEnough()) return true
      // One probe for all tries of one case; a creation among them makes a fresh one each time.
      const probe = await probeOf(source)
      const again = probe.effect === 'none' ? probe : source
      const isSuccess = ({ response }: Exchange): boolean =>
        response !== undefined && isExpected(expects, response)
      const purpose = {
        ...{ badInput: true, expects, what },
        // The envelope of an answer there is no matter of every response.
        ...(isAtOtherPath(run, probe) ? { skipJudging: 'envelope' as const } : {}),
        // A request that may be granted is sent once more if no answer came.
        ...(probe.effect === 'none' ? {} : { isSuccess }),
      }
      const settled = await sendCase(context, again, purpose, found)
      noteCrash(run, settled, what)
      const isTaken = settled.response !== undefined && isGranted(settled.response)
      if (isTaken) granted++
      if (expects.some(([status]) => status === 'no-5xx')) await requireOfInput(run, settled)
      judgeCase(refusal, settled, what, expects)
      return isTaken
    },
  })
}

/**
 * The valid request that a fault is put into, fresh each time; a file that is to be added stays fresh until it was. A quick
 * run makes one for all refusals of an operation: what is refused takes no name, and adds no file.
 */
function validOf(
  { run, requirement }: CheckContext,
  operation: OperationId,
  found: Control,
): () => Promise<Probe> {
  const isFileAdded = operationOf(operation).freshFileAt !== undefined
  const own = (): Promise<Probe> => found.valid()
  if (requirement.effect !== 'none') return own
  // A key that is refused is refused whatever became of the file: those requirements add one.
  const isShared =
    run.options.depth !== 'full' || (requirement.fault === 'credentials' && isFileAdded)
  if (!isShared && !isFileAdded) return own
  let kept: Promise<Probe> | undefined
  return () =>
    (kept ??= isShared ? sharedRequest(run, `refused request of ${operation}`, own) : own())
}

/** Faults of members that broke the server, whichever requirement sent them: they are bad input, too. */
export const crashesOf = perRun((): { readonly exchange: Exchange; readonly what: string }[] => [])

function noteCrash(run: Run, exchange: Exchange, what: string): void {
  const { probe, response } = exchange
  if (response && isBreakdown(response) && probe.fault?.includes(' @ '))
    crashesOf(run).push({ exchange, what })
}

/** Generated cases a requirement up to which they are remembered. */
const maxKept = 100

/** Sends a case; one that several requirements judge is sent once, if it has no effect. */
async function sendCase(
  context: CheckContext,
  source: Source,
  purpose: Partial<Purpose>,
  found: Control,
): Promise<Exchange> {
  const send = () =>
    context.send(source, purpose, { counterpart: async () => counterpartOf(found) })
  if (typeof source === 'function') return send()
  // A value may be generated twice, and for two requirements. Of thousands too much would be kept.
  const isShared = isGenerating(context)
    ? context.run.options.refusalRuns <= maxKept
    : /^body: |^(?!again).* @ /.test(source.fault ?? '')
  if (!isShared || !source.credential.full) return send()
  const { operation, path, params, headers, body } = source
  const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString('base64')
  const later = source.fault?.endsWith('later') === true
  const key = JSON.stringify([operation, path, params, headers, text, later])
  const shared = await oncePerRun(context.run, `case ${key}`, send)
  // To another requirement, for which it was sent, a block may have been as good an answer as any.
  const isOwn = shared.purpose.requirement === context.requirement.id
  return !isOwn && isBlocked(shared, purpose.expects) ? send() : shared
}

/** Sets the control of the context; throws if its answer leaves the refusal without one. */
function requireControl({ context, control: found, ofCredentials }: Refusal): void {
  if (found.state === 'none') return
  noteControl(context, found)
  if (found.state === 'granted') return
  const status = found.exchange?.response?.status
  const barred = status === 401 || status === 403
  if (ofCredentials && status !== undefined && !barred && !found.exchange?.throttled) return
  throw notGranted(found)
}

/** A fault of credentials hides behind any other refusal if the control was not granted: then nothing was seen. */
function judgeCase(refusal: Refusal, exchange: Exchange, what: string, expects: Pairs): void {
  const { context, control: found, ofCredentials } = refusal
  const status = exchange.response?.status ?? 0
  const conclusive = (status >= 200 && status < 300) || status === 401 || status === 403
  if (ofCredentials && found.state !== 'granted' && !conclusive) {
    const answered = `answered ${describeResponse(exchange)}`
    const also =
      answered === found.said()
        ? 'and so was the same request with the full key'
        : `and the same request with the full key ${found.said()}`
    throw new NotExercised(`${answered}, ${also}${remedyOf(found)}`)
  }
  judgePairs(context, exchange, expects, what)
}

/** Advises another request only if the service itself refused this one. */
function remedyOf({ exchange }: Control): string {
  const response = exchange?.response
  const isAboutRequest = response && response.status < 500 && tpeOf(response) !== undefined
  return isAboutRequest ? '; declare a request that is granted' : ''
}

/**
 * The control of faults of credentials: the very same request with the full key. If nothing is declared, `{}` or an
 * unknown id is the placeholder: whatever answers it but 401 and 403 shows that the key was looked at first, or not at all.
 */
async function credentialControl(run: Run, operation: OperationId): Promise<Control> {
  const reading = run.options.readOnly && effectOf(run, operation) !== 'none'
  // A run that only reads cannot make what is to be read: a placeholder is used.
  const makeable = !(reading && readsOf(operation))
  if (run.keys.hasFull && makeable && isDeclared(run, operation)) return control(run, operation)
  return oncePerRun(run, `credential control ${operation}`, async () => {
    const placeholder = await placeholderRequest(run, operation)
    const valid = async (): Promise<Probe> => placeholder
    if (!run.keys.hasFull) return { state: 'none', said: () => 'not sent: no key', valid }
    if (reading) return { state: 'none', said: () => 'not sent: --read-only', valid }
    const exchange = await ask(run, placeholder, { requirement: null, role: 'control' })
    const granted = countsAsGranted(exchange)
    return { state: granted ? 'granted' : 'refused', said: () => saidBy(exchange), exchange, valid }
  })
}
