import { type OperationId, readsOf } from '../../catalogue/operations.ts'
import { effectOf, type Probe, type Run } from '../engine/index.ts'
import { countsAsGranted, type Verdict } from '../journal/index.ts'
import { ask, type CheckContext, settle } from '../run/index.ts'
import { Binding } from './binding.ts'
import { type Case, type Condition, materialOf } from './case.ts'
import { type Control, control, noteControl, notGranted, operationIn, saidBy } from './control.ts'
import { once } from './created.ts'
import { allOf, type CaseRule, generatedBy } from './rules.ts'
import { isDeclared, placeholderRequest } from './valid-request.ts'
import { seedFor } from './values.ts'

/** Judges a valid request with exactly one fault by the accepted pairs. */
export async function judgeRefusal(context: CheckContext, condition: Condition): Promise<Verdict> {
  const { run, requirement } = context
  const operation = operationIn(context)
  const isOfKey = requirement.fault === 'credentials'
  const found = await (isOfKey ? credentialControl : control)(run, operation)
  requireControl(context, found, isOfKey)
  const material = materialOf(run, requirement, operation)
  const binding = new Binding(context, material, found)
  const cases = await condition.casesIn(context, material, binding.valid)
  await binding.askControls(cases)
  const ruleOf = (one: Case): CaseRule => binding.ruleOf(one)
  const ruleOfGenerated = (one: Case): CaseRule => binding.ruleOf(one, true)
  const arbitrary = run.options.depth === 'full' ? condition.generated?.(material) : undefined
  const search = {
    seed: seedFor(run.options.seed, requirement.id),
    numRuns: run.options.refusalRuns,
  }
  const rule = allOf(cases.map(ruleOf), {
    inOrder: condition.inOrder ?? false,
    ...(arbitrary && { generated: generatedBy({ arbitrary, ruleOf: ruleOfGenerated, ...search }) }),
  })
  const judge = async (isEnd: boolean): Promise<Verdict> => {
    const verdict = await (condition.judge
      ? condition.judge({ context, material, cases, ruleOf }, isEnd)
      : settle(run, rule, isEnd))
    binding.noteCrashes()
    if (verdict.outcome !== 'asks') binding.forget()
    else context.atEnd = () => judge(true)
    return verdict
  }
  return judge(false)
}

function requireControl(context: CheckContext, found: Control, isOfKey: boolean): void {
  if (found.state === 'none') return
  noteControl(context, found)
  const status = found.exchange?.response?.status
  const isBarred = status === undefined || status === 401 || status === 403
  const isSeen = isOfKey && !isBarred && !found.exchange?.throttled
  if (found.state !== 'granted' && !isSeen) throw notGranted(found)
}

/**
 * The control of credential faults: the same request with the full key. If nothing is declared, a placeholder (`{}` or
 * an unknown id): any answer but 401 and 403 shows that the key was checked first, or not at all.
 */
async function credentialControl(run: Run, operation: OperationId): Promise<Control> {
  const isReading = run.options.readOnly && effectOf(run, operation) !== 'none'
  // A read-only run cannot create the object to read, and uses a placeholder.
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
