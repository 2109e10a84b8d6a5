import canonicalize from 'canonicalize'
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { haveStatus, isRefusal, type Pairs, pairsOf } from '../../catalogue/answers.ts'
import {
  catalogue,
  type CatalogueRequirement,
  type RequirementId,
} from '../../catalogue/catalogue.ts'
import { operationOf, type OperationId } from '../../catalogue/operations.ts'
import { groupBy } from '../../harness/group-by.ts'
import {
  countsAsGranted,
  describeResponse,
  isOpen,
  jsonOf,
  matchPairs,
  type Probe,
  type Verdict,
  open,
} from '../../harness/journal/index.ts'
import type { TpeMode } from '../../harness/report/index.ts'
import { type Scenario, type Target } from '../../harness/target/index.ts'
import { hasParent, parsedJson } from '../../schemas/json.ts'
import { bearer } from '../../suites/authentication/credentials.ts'
import type { Case } from '../../suites/checks/case.ts'
import { concluded, held, type Judged } from '../../suites/checks/rules.ts'
import { asScenario } from '../../suites/checks/scenario.ts'
import { changedBy, placeholderDraft } from '../../suites/checks/valid-request.ts'
import { casesOf, knownOf, operationFor } from '../../suites/plan.ts'
import { type EntryExchange, placeholder } from './exchange.ts'

/** A request that must be refused, and the same without its fault. */
interface Faulty {
  readonly what: string
  readonly expects: Pairs
  readonly probe: Probe
  readonly sound: Probe
}

type Exchanges = readonly EntryExchange[]

/** Faults are put into the first distinct granted requests of an operation. */
const mostGranted = 6

const runs = { seed: 0, depth: 'full', refusalRuns: 0, grantedRuns: 0, readOnly: false } as const

/** Headers that do not change what is asked for. */
const incidental =
  /^(?:accept|accept-.*|authorization|baggage|cache-control|connection|content-disposition|content-length|date|dnt|host|origin|pragma|priority|referer|sec-.*|sentry-trace|te|traceparent|tracestate|transfer-encoding|user-agent|x-request-id)$/i

/** Requirements about refusals that a recording can show. */
export const shownRefusals = (target: Target): RequirementId[] =>
  refusalsOf(target).flatMap((refusal) => {
    const { operation, requirement } = refusal
    const { body = operationOf(operation).example } = target.operations[operation] ?? {}
    const draft = placeholderDraft(knownOf(target, runs), operation)
    const credential = bearer({ value: 'key', label: 'key' })
    const valid = { ...draft, credential, body: JSON.stringify(body) }
    return faultyFrom(valid, refusal, target).next().done ? [] : [requirement.id]
  })

/**
 * Judges the recorded requests that equal a granted one but for exactly one fault, and names them: they are to be refused.
 */
export function* refusalsIn(
  exchanges: Exchanges,
  target: Target,
  tpe: TpeMode,
): Iterable<readonly [RequirementId, Verdict, Exchanges]> {
  const known = exchanges.filter(
    (one) => one.entry.requestBody.state === 'whole' && one.entry.status > 0,
  )
  const equal = groupBy(known, (one) => keyOf(one.probe))
  const sent = groupBy(equal, ([, [one]]) => one!.probe.operation)
  for (const refusal of refusalsOf(target)) {
    const { isOfKey, operation, requirement } = refusal
    const own = sent.get(operation) ?? []
    // Keys are checked first: the rest of the request may be any.
    const idOf = (probe: Probe, key?: string) =>
      isOfKey ? probe.credential.value : (key ?? keyOf(probe))
    // Nothing else was sent that could have the fault.
    const isAlone = new Set(own.map(([key, [one]]) => idOf(one!.probe, key))).size < 2
    const granted = own.flatMap(([key, all]) => {
      const probe = all.find(countsAsGranted)?.probe
      return probe ? [{ probe, id: idOf(probe, key) }] : []
    })
    const faulty = (isAlone ? [] : [...groupBy(granted, (one) => one.id).values()])
      .slice(0, mostGranted)
      .flatMap(([one]) => [...faultyFrom(one!.probe, refusal, target)])
    const faultyOf = groupBy(faulty, (one) => idOf(one.probe))
    const refused: EntryExchange[] = []
    const judged = own.flatMap(([key, found]): Judged[] => {
      const { probe } = found[0]!
      for (const one of faultyOf.get(idOf(probe, key)) ?? []) {
        const sound = isOfKey ? { ...probe, credential: one.sound.credential } : one.sound
        const control = equal.get(keyOf(sound)) ?? []
        // The granted request may have that value itself.
        if (control === found || !(isOfKey || control.some(countsAsGranted))) continue
        refused.push(...found)
        return [judge(one, found, control, isOfKey, tpe)]
      }
      return []
    })
    // What one request does not prove, another one may.
    const sure = judged.filter((one) => !one.isFurther)
    const verdict = concluded(sure.length > 0 ? sure : judged)
    yield [
      requirement.id,
      judged.length > 0 ? verdict : open('no request equals a granted one but for its fault'),
      haveStatus(pairsOf(requirement, operation), 'no-5xx') ? [] : refused,
    ]
  }
}

/** Equal for requests that ask for the same with the same key. */
function keyOf(probe: Probe): string {
  const { method, path, params, query, headers, credential, body = '' } = probe
  const lines = headers
    .filter((one) => !incidental.test(one.name))
    .map((one) => `${one.name.toLowerCase()}: ${one.value.trim()}`)
  const members = [params, query].map((all) => Object.entries(all).toSorted())
  const json = canonical(probe)
  const text = json ?? Buffer.from(body).toString('latin1')
  const parts = [method, path, members, lines.toSorted(), credential.value, json === undefined]
  return hash('sha256', JSON.stringify(parts) + text, 'base64')
}

/** The canonical form of JSON; undefined for anything else, too deep nesting, and numbers that are not finite. */
function canonical(probe: Probe): string | undefined {
  const bytes = Buffer.from(probe.body ?? '')
  try {
    return isUtf8(bytes) ? canonicalize(parsedJson(bytes.toString())) : undefined
  } catch {
    return undefined
  }
}

/** Requirements about refusals of single requests. */
const refusalsOf = (target: Target) =>
  catalogue.flatMap((requirement) => {
    const { expects, fault, id } = requirement
    const scenario = target.scenarios[id]
    const operation = operationFor(requirement, target)
    const isSingle = scenario ? !scenario.isExclusive : casesOf(id) !== undefined
    if (!isRefusal(expects) || !isSingle || operation === undefined) return []
    return [{ requirement, operation, isOfKey: !scenario && fault === 'credentials' }]
  })

type Refusal = ReturnType<typeof refusalsOf>[number]

/** The requests by which a refusal is recognised, made from a granted one. */
function* faultyFrom(valid: Probe, refusal: Refusal, target: Target): Generator<Faulty> {
  const { isOfKey, operation, requirement } = refusal
  const scenario = target.scenarios[requirement.id]
  // A fault of a member needs an object.
  if (operationOf(operation).body === 'json' && !canonical(valid)?.startsWith('{')) return
  // If no key is recorded, all may have been left out.
  if (isOfKey && !valid.credential.value?.startsWith('Bearer ')) return
  const known = knownOf(declaring(target, operation, valid), runs)
  const { cases, recorded = cases } = casesOf(requirement.id) ?? {}
  const all = scenario
    ? [scenarioCase(scenario, requirement)]
    : recorded!({ ...known, requirement, operation, valid })
  if (isOpen(all)) return
  for (const { what, expects = pairsOf(requirement, operation), ...one } of all) {
    // Nobody knows which recorded ids name an object.
    if (one.at ?? one.judge ?? one.isBehind ?? one.coercion ?? one.isUnknownId) continue
    const sound = one.control?.(valid) ?? valid
    const { credential, ...probe } = one.change(valid)
    // A report of a run shows keys in its own words.
    for (const value of new Set([credential.value, credential.shown || credential.value]))
      yield { what, expects, sound, probe: { ...probe, credential: { ...credential, value } } }
  }
}

const scenarioCase = (scenario: Scenario, requirement: CatalogueRequirement): Case => ({
  what: asScenario,
  expects: requirement.expectsByScenario,
  change: (one) => ({
    ...changedBy(scenario, one),
    ...(scenario.key && { credential: bearer({ value: scenario.key.label, ...scenario.key }) }),
  }),
})

/** The target as if it declared this request. */
function declaring(target: Target, operation: OperationId, valid: Probe): Target {
  const { application } = target.resources
  const isOwn = Object.values(valid.params).includes(application?.id ?? '')
  const label = valid.credential.value?.replace('Bearer ', '') ?? ''
  const full = placeholder.test(label) ? { label, ask: async () => label } : { label, value: label }
  const body = jsonOf(valid)
  const undeclared = { query: {}, headers: [], cleanup: [], fields: operationOf(operation).fields }
  const declared = { ...undeclared, ...target.operations[operation], body }
  const fields = Object.fromEntries(
    Object.entries(declared.fields).filter(([, at]) => at !== undefined && hasParent(body, at)),
  )
  return {
    ...target,
    keys: { ...target.keys, full },
    resources: { ...target.resources, application: isOwn ? application : undefined },
    operations: { ...target.operations, [operation]: { ...declared, fields } },
    limits: { ...target.limits, credentialProbes: 'all' },
  }
}

function judge(
  { what, expects }: Faulty,
  found: Exchanges,
  control: Exchanges,
  isOfKey: boolean,
  tpe: TpeMode,
): Judged {
  const fitOf = (one: EntryExchange) => matchPairs(expects, one.response)
  const fits: readonly unknown[] = tpe === 'family' ? ['exact', 'family'] : ['exact']
  const right = found.filter((one) => fits.includes(fitOf(one)))
  const exchange = found.find((one) => !right.includes(one) && isConclusive(one, control, isOfKey))
  if (exchange && right.length > 0) return open('the answers to one request differ')
  if (exchange) {
    const outcome = fitOf(exchange) === 'family' ? 'name' : 'broken'
    return { outcome, evidence: { exchange, what, expected: expects } }
  }
  if (right.length > 0) return held
  const reason = `${describeResponse(found[0]!)} may have another cause`
  return { outcome: 'open', why: { reason }, isFurther: true }
}

/** Limits, gateways, conflicts, full storage. */
const otherCauses: readonly number[] = [409, 429, 502, 503, 504, 507]

/** Whether a wrong answer can only be due to the fault. */
function isConclusive(
  { entry, response, sentAt }: EntryExchange,
  control: Exchanges,
  isOfKey: boolean,
): boolean {
  const { isBlock, status } = response
  const granted = control.findLast(countsAsGranted)
  if (entry.body.state !== 'whole' || isBlock || otherCauses.includes(status)) return false
  if (status < 300) return true
  // The key may have expired.
  if (status === 401 || status === 403) return isOfKey
  if (!granted || status < 400) return false
  // The object may be gone; valid requests may fail, too.
  if (status === 404 || status === 410) return granted.sentAt > sentAt
  return status < 500 || !control.some((one) => one.response.status >= 500)
}
