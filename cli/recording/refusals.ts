import canonicalize from 'canonicalize'
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { isRefusal, type Pairs, pairsOf } from '../../catalogue/answers.ts'
import {
  catalogue,
  type CatalogueRequirement,
  type RequirementId,
} from '../../catalogue/catalogue.ts'
import { everyTurn } from '../../catalogue/faults.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { groupBy } from '../../harness/group-by.ts'
import {
  countsAsGranted,
  describeResponse,
  isOpen,
  matchPairs,
  type Open,
  type Probe,
  type Verdict,
} from '../../harness/journal/index.ts'
import { isAuthorization, isSecretName } from '../../harness/recording/index.ts'
import type { TpeMode } from '../../harness/report/index.ts'
import {
  defaultPointers,
  isExclusive,
  type Scenario,
  type Target,
} from '../../harness/target/index.ts'
import { hasParent, parsedJson } from '../../schemas/json.ts'
import type { Case } from '../../suites/checks/case.ts'
import { concluded, type Judged } from '../../suites/checks/rules.ts'
import { asScenario } from '../../suites/checks/scenario.ts'
import { changedBy, placeholderDraft } from '../../suites/checks/valid-request.ts'
import { casesOf, knownOf, operationOf as operationFor } from '../../suites/plan.ts'
import { type EntryExchange, placeholder } from './exchange.ts'

interface Refusal {
  readonly requirement: CatalogueRequirement
  readonly operation: OperationId
  readonly isOfKey: boolean
}

/** Equal recorded requests, and those that they equal but for one fault. */
interface Match {
  readonly what: string
  readonly expects: Pairs
  readonly found: readonly EntryExchange[]
  readonly control: readonly EntryExchange[]
}

const none: readonly EntryExchange[] = []

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
    const valid = {
      ...placeholderDraft(knownOf(target, runs), operation),
      body: JSON.stringify(body),
    }
    return casesIn(refusal, target, valid).length > 0 ? [requirement.id] : []
  })

/** Judges the recorded requests that equal a granted one but for exactly one fault. */
export function* refusalsIn(
  exchanges: readonly EntryExchange[],
  target: Target,
  tpe: TpeMode,
): Iterable<readonly [RequirementId, Verdict]> {
  const whole = exchanges.filter(({ entry }) => entry.requestBody.state === 'whole')
  const equal = groupBy(whole, (one) => keyOf(asSent(one)))
  const distinct = [...equal.values()].map((all) => all.find(countsAsGranted) ?? all[0]!)
  const granted = groupBy(distinct.filter(countsAsGranted), (one) => one.probe.operation)
  const byKey = groupBy(distinct, (one) => `${one.probe.operation} ${keyIn(one)}`)
  const equalTo = (probe: Probe) => equal.get(keyOf(probe)) ?? none

  function* byCases(refusal: Refusal, base: Probe): Iterable<Match> {
    for (const one of casesIn(refusal, target, base)) {
      const [found, control] = [equalTo(one.probe), equalTo(one.sound)]
      // The granted request may have that value itself.
      if (found !== control && control.some(countsAsGranted)) yield { ...one, found, control }
    }
  }

  function* byKeys(refusal: Refusal, base: Probe): Iterable<Match> {
    const { credential } = base
    // If no key is recorded, all may have been left out.
    if (!credential.value?.startsWith('Bearer ')) return
    const forms = groupBy(casesIn(refusal, target, base), (one) => one.probe.credential.value)
    // In place of a key a recorder may write stars, which have no letter case.
    forms.delete(credential.value)
    for (const [key, [one]] of forms)
      for (const exchange of byKey.get(`${refusal.operation} ${key}`) ?? []) {
        const faulty = asSent(exchange)
        const control = equalTo({ ...faulty, credential })
        yield { ...one!, found: equalTo(faulty), control }
      }
  }

  for (const refusal of refusalsOf(target)) {
    const { isOfKey, operation, requirement } = refusal
    const valid = (granted.get(operation) ?? []).slice(0, mostGranted).map(asSent)
    const bases = groupBy(valid, (one) => (isOfKey ? one.credential.value : one))
    const matches = [...bases.values()].flatMap(([base]) => [
      ...(isOfKey ? byKeys : byCases)(refusal, base!),
    ])
    const judged = [...groupBy(matches, (one) => one.found)].flatMap(([found, [one]]) =>
      found === none ? [] : judge(one!, isOfKey, tpe),
    )
    // What one request does not prove, another one may.
    const sure = judged.filter((one) => !one.isFurther)
    const why = 'no request equals a granted one but for its fault'
    const verdict = concluded(sure.length > 0 ? sure : judged)
    yield [requirement.id, judged.length > 0 ? verdict : { outcome: 'open', why }]
  }
}

/** The recorded request, with what its Authorization header says as the full key. */
function asSent(exchange: EntryExchange): Probe {
  const { body = '' } = exchange.probe
  const value = keyIn(exchange)
  return {
    ...exchange.probe,
    credential: { ...(value !== undefined && { value }), shown: value ?? '', full: true },
    body: typeof body !== 'string' && isUtf8(body) ? Buffer.from(body).toString() : body,
  }
}

/** Undefined for none. Without any headers, or with another secret, such as a cookie, nobody knows: then empty. */
function keyIn({ probe: { headers } }: EntryExchange): string | undefined {
  const [own] = headers.filter((line) => isAuthorization(line.name))
  const isUnknown = headers.length === 0 || headers.some((line) => isSecretName(line.name))
  return own?.value ?? (isUnknown ? '' : undefined)
}

/** Equal for requests that ask for the same with the same key. */
function keyOf({ method, path, params, query, headers, credential, body = '' }: Probe): string {
  const lines = headers
    .filter(({ name }) => !incidental.test(name))
    .map(({ name, value }) => `${name.toLowerCase()}: ${value.trim()}`)
  const parts = [method, path, params, query, lines.toSorted(), credential.value ?? null]
  const hash = createHash('sha256').update(canonicalize(parts)!)
  return hash.update(canonical(body) ?? body).digest('base64')
}

/** The canonical form of JSON; undefined for anything else, too deep nesting, and numbers that are not finite. */
function canonical(body: Probe['body']): string | undefined {
  const value = typeof body === 'string' ? parsedJson(body) : undefined
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}

/** Refusals of single requests. */
const refusalsOf = (target: Target): Refusal[] =>
  catalogue.flatMap((requirement) => {
    const { expects, fault, id } = requirement
    const scenario = target.scenarios[id]
    const operation = operationFor(requirement, target)
    const isSingle = scenario ? !isExclusive(scenario) : casesOf(id) !== undefined
    if (!isRefusal(expects) || !isSingle || operation === undefined) return []
    return [{ requirement, operation, isOfKey: !scenario && fault === 'credentials' }]
  })

/** The cases by which a request is recognised, with a recorded request in place of the declared one. */
function casesIn({ requirement, operation, isOfKey }: Refusal, target: Target, valid: Probe) {
  const scenario = target.scenarios[requirement.id]
  // The seed chooses the forms of a key for each operation.
  const seeds = Array.from({ length: isOfKey ? everyTurn : 1 }, (_, seed) => seed)
  const casesBy = (seed: number): readonly Case[] | Open => {
    const known = knownOf(asDeclared(target, operation, valid), { ...runs, seed })
    return casesOf(requirement.id)!.cases({ ...known, requirement, operation, valid })
  }
  if (operationOf(operation).body === 'json' && !canonical(valid.body)?.startsWith('{')) return []
  const made = scenario ? [[scenarioCase(scenario, requirement)]] : seeds.map(casesBy)
  const all = made.flatMap((one) => (isOpen(one) ? [] : one))
  return (
    (made.some(isOpen) ? [] : all)
      // Nobody knows whether the id of a recorded request names an object.
      .filter((one) => !(one.at ?? one.ruleOf ?? one.isBehind ?? one.coercion ?? one.isUnknownId))
      .flatMap(({ what, change, control, expects = pairsOf(requirement, operation) }) => {
        const { credential, ...probe } = change(valid)
        const { value, shown } = credential
        // A report of a run shows keys in its own words.
        const forms = value === undefined ? [value] : [...new Set([value, shown])]
        return forms.map((form) => ({
          ...{ what, expects, sound: control?.(valid) ?? valid },
          probe: { ...probe, credential: { ...credential, value: form } },
        }))
      })
  )
}

function scenarioCase(scenario: Scenario, requirement: CatalogueRequirement): Case {
  const { key } = scenario
  const credential = key && {
    value: `Bearer ${'value' in key ? key.value : key.label}`,
    shown: `Bearer ${key.label}`,
    full: false,
  }
  return {
    what: asScenario,
    expects: requirement.expectsByScenario,
    change: (one) => ({ ...changedBy(scenario, one), ...(credential && { credential }) }),
  }
}

/** The target as if it declared the recorded request. */
function asDeclared(target: Target, operation: OperationId, valid: Probe): Target {
  const { [operation]: declared } = target.operations
  const { application } = target.resources
  const isOwn = Object.values(valid.params).includes(application?.id ?? '')
  const label = valid.credential.value?.replace('Bearer ', '') ?? ''
  const full = {
    label,
    ...(placeholder.test(label) ? { ask: async () => label } : { value: label }),
  }
  const body = typeof valid.body === 'string' ? parsedJson(valid.body) : undefined
  const pointers = Object.entries({ ...defaultPointers(operation), ...declared?.fields })
  const fields = Object.fromEntries(
    pointers.filter(([, at]) => at !== undefined && hasParent(body, at)),
  )
  const own = { query: {}, headers: [], cleanup: [], ...declared, fields, body }
  return {
    ...target,
    keys: { ...target.keys, full },
    resources: { ...target.resources, application: isOwn ? application : undefined },
    operations: { ...target.operations, [operation]: own },
    limits: { ...target.limits, credentialProbes: 'all' },
  }
}

function judge({ what, expects, found, control }: Match, isOfKey: boolean, tpe: TpeMode): Judged {
  const isRight = ({ response }: EntryExchange): boolean => {
    const match = matchPairs(expects, response)
    return match === 'exact' || (match === 'family' && tpe === 'family')
  }
  const isHeld = found.some(isRight)
  const exchange = found.find((one) => !isRight(one) && isConclusive(one, control, isOfKey))
  if (exchange && isHeld)
    return { outcome: 'open', why: { reason: 'the answers to one request differ' } }
  if (exchange) {
    const isName = matchPairs(expects, exchange.response) === 'family'
    return { outcome: isName ? 'name' : 'broken', evidence: { exchange, what, expected: expects } }
  }
  if (isHeld) return { outcome: 'held', cases: 1 }
  const reason = `${describeResponse(found[0]!)} may have another cause`
  return { outcome: 'open', why: { reason }, isFurther: true }
}

/** Limits, gateways, conflicts, full storage. */
const otherCauses: readonly number[] = [409, 429, 502, 503, 504, 507]

/** Whether a wrong answer can only be due to the fault. */
function isConclusive(
  { entry, response, sentAt }: EntryExchange,
  control: Match['control'],
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
