import { countsAsGranted } from '../journal/index.ts'
import { pairsOf, type Pairs } from '../../catalogue/expected.ts'
import { operation as operationOf, type OperationId, readsOf } from '../../catalogue/operations.ts'
import {
  describeResponse,
  effectOf,
  type Exchange,
  isBlocked,
  isBreakdown,
  isExpected,
  isGranted,
  NotExercised,
  type Probe,
  probeOf,
  type Purpose,
  type Run,
  type Source,
  tpeOf,
} from '../engine/index.ts'
import { ask, type CheckContext, judgePairs } from '../run/index.ts'
import { isGenerating } from './at-once.ts'
import { type Condition, otherPathOf } from './case.ts'
import {
  type Control,
  control,
  noteControl,
  notGranted,
  operationIn,
  requireOfInput,
  saidBy,
} from './control.ts'
import { once, sharedBy } from './created.ts'
import { byScenario } from './scenario.ts'
import { isDeclared, placeholderRequest, sharedRequest } from './valid-request.ts'

/** Judges a valid request with exactly one fault by the pairs that answer it; a scenario overrides the suite's own way to cause it. */
export async function tryRefusal(context: CheckContext, { bringAbout }: Condition): Promise<void> {
  const { run, requirement, scenario } = context
  if (scenario) return byScenario(context)
  const operation = operationIn(context)
  const given = pairsOf(requirement, operation)
  const isOfKey = requirement.fault === 'credentials'
  const found = await (isOfKey ? credentialControl : control)(run, operation)
  requireControl(context, found, isOfKey)
  let [named, granted] = [0, 0]
  /** True if a quick run has seen enough: one case that has a name, and one that is generated. Of keys there are few anyway. */
  const isEnough = (): boolean =>
    run.options.depth === 'quick' && !isOfKey && !isGenerating(context) && named++ > 0
  const judgeAnswer = (exchange: Exchange, what: string, expects: Pairs): void => {
    if (isOfKey) requireConclusive(exchange, found)
    judgePairs(context, exchange, expects, what)
  }
  await bringAbout({
    context,
    operation,
    valid: validOf(context, operation, found),
    granted: () => granted,
    judgeResponse: (exchange, what) => judgeAnswer(exchange, what, given),
    async ask(source, what, expects = given) {
      if (isEnough()) return true
      // One probe for all tries of one case; a creation among them makes a fresh one each time.
      const probe = await probeOf(source)
      const isHarmless = probe.effect === 'none'
      const isSuccess = ({ response }: Exchange): boolean =>
        response !== undefined && isExpected(expects, response)
      const isElsewhere = otherPathOf(run, operation) === probe.path
      const purpose = {
        badInput: true,
        expects,
        what,
        // The envelope of an answer there is no matter of every response.
        ...(isElsewhere && { skipJudging: 'envelope' as const }),
        // A request that may be granted is sent once more if no answer came.
        ...(!isHarmless && { isSuccess }),
      }
      const exchange = await sendCase(context, isHarmless ? probe : source, purpose)
      const { response } = exchange
      if (response && isBreakdown(response) && probe.fault?.includes(' @ '))
        sharedBy(run).crashes.push({ exchange, what })
      const isTaken = response !== undefined && isGranted(response)
      if (isTaken) granted++
      if (expects.some(([status]) => status === 'no-5xx')) await requireOfInput(run, exchange)
      judgeAnswer(exchange, what, expects)
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
  { valid }: Control,
): () => Promise<Probe> {
  const isFileAdded = operationOf(operation).freshFileAt !== undefined
  if (requirement.effect !== 'none') return () => valid()
  // A key that is refused is refused whatever became of the file: those requirements add one.
  const isShared =
    run.options.depth !== 'full' || (requirement.fault === 'credentials' && isFileAdded)
  if (!isShared && !isFileAdded) return () => valid()
  const name = `refused request of ${operation}`
  let kept: Promise<Probe> | undefined
  return () => (kept ??= isShared ? sharedRequest(run, name, () => valid()) : valid())
}

/** Generated cases a requirement up to which they are remembered. */
const maxKept = 100

/** Sends a case; one that several requirements judge is sent once, if it has no effect. */
async function sendCase(
  context: CheckContext,
  source: Source,
  purpose: Partial<Purpose>,
): Promise<Exchange> {
  const { run, requirement } = context
  const send = () => context.send(source, purpose)
  if (typeof source === 'function') return send()
  const { operation, path, params, headers, body, fault = '', credential } = source
  // A value may be generated twice, and for two requirements. Of thousands too much would be kept.
  const isShared = isGenerating(context)
    ? run.options.refusalRuns <= maxKept
    : /^body: |^(?!again).* @ /.test(fault)
  if (!isShared || !credential.full) return send()
  const text = typeof body === 'string' ? body : Buffer.from(body ?? '').toString('base64')
  const key = [operation, path, params, headers, text, fault.endsWith('later')]
  const shared = await once(run, `case ${JSON.stringify(key)}`, send)
  // To another requirement, for which it was sent, a block may have been as good an answer as any.
  const isOwn = shared.purpose.requirement === requirement.id
  return !isOwn && isBlocked(shared, purpose.expects) ? send() : shared
}

/** Notes the control; throws `NotExercised` if its answer leaves the refusal without one. */
function requireControl(context: CheckContext, found: Control, isOfKey: boolean): void {
  if (found.state === 'none') return
  noteControl(context, found)
  const status = found.exchange?.response?.status
  const isBarred = status === undefined || status === 401 || status === 403
  const isSeen = isOfKey && !isBarred && !found.exchange?.throttled
  if (found.state !== 'granted' && !isSeen) throw notGranted(found)
}

/** A fault of credentials hides behind any other refusal if the control was not granted: then nothing was seen. */
function requireConclusive(exchange: Exchange, found: Control): void {
  const status = exchange.response?.status ?? 0
  const isConclusive = (status >= 200 && status < 300) || status === 401 || status === 403
  if (found.state === 'granted' || isConclusive) return
  const answered = `answered ${describeResponse(exchange)}`
  const said = found.said()
  const also =
    answered === said
      ? 'and so was the same request with the full key'
      : `and the same request with the full key ${said}`
  // Another request is of use only if the service itself refused this one.
  const response = found.exchange?.response
  const isAboutRequest = response && response.status < 500 && tpeOf(response) !== undefined
  const remedy = isAboutRequest ? '; declare a request that is granted' : ''
  throw new NotExercised(`${answered}, ${also}${remedy}`)
}

/**
 * The control of faults of credentials: the very same request with the full key. If nothing is declared, `{}` or an
 * unknown id is the placeholder: whatever answers it but 401 and 403 shows that the key was looked at first, or not at all.
 */
async function credentialControl(run: Run, operation: OperationId): Promise<Control> {
  const isReading = run.options.readOnly && effectOf(run, operation) !== 'none'
  // A run that only reads cannot make what is to be read: a placeholder is used.
  const isMakeable = !(isReading && readsOf(operation))
  const { hasFull } = run.keys
  if (hasFull && isMakeable && isDeclared(run, operation)) return control(run, operation)
  return once(run, `credential control ${operation}`, async () => {
    const placeholder = await placeholderRequest(run, operation)
    const valid = async (): Promise<Probe> => placeholder
    const unsent = hasFull ? isReading && '--read-only' : 'no key'
    if (unsent) return { state: 'none', said: () => `not sent: ${unsent}`, valid }
    const exchange = await ask(run, placeholder, { requirement: null, role: 'control' })
    const state = countsAsGranted(exchange) ? 'granted' : 'refused'
    return { state, said: () => saidBy(exchange), exchange, valid }
  })
}
