import {
  catalogue,
  type CatalogueRequirement,
  type RequirementId,
  requirementOf,
} from '../catalogue/catalogue.ts'
import {
  isOperationId,
  operation as operationOf,
  type OperationId,
} from '../catalogue/operations.ts'
import { isRefusal, pairsOf } from '../catalogue/expected.ts'
import { matchPairs } from '../harness/engine/index.ts'
import { Redactor } from '../harness/recording/index.ts'
import { isObserved, type Report } from '../harness/report/index.ts'
import { defaultLimits, type Target } from '../harness/target/index.ts'
import { operationAt, pathUnder } from './base-url.ts'
import { type RecordedEntry, recordedEntry, Unreadable } from './recorded-entry.ts'
import { recordResponse, type RecordedHttpResponse } from './recorded-exchange.ts'
import { createRecordingJudge } from './recording-judge.ts'
import { groupBy } from '../harness/group-by.ts'

/** An entry of a HAR that a run wrote: beside it stands what the request was sent for. */
interface OwnEntry {
  readonly entry: RecordedEntry
  readonly requirement: unknown
  readonly role: unknown
  /** The operation that its method and path name, if the run did not ask for it in an odd place. */
  readonly operation: OperationId | undefined
}

/**
 * Where the recorded exchanges of a run contradict its report, a sentence each; nothing for a run that wrote both. They are
 * judged as `check` judges them, and each refusal by what answers it: as far as the run itself judged an answer by itself.
 * @param values the entries of the HAR
 */
export function exchangeProblems(report: Report, values: readonly unknown[]): string[] {
  try {
    return contradictions(report, values)
  } catch (error) {
    if (error instanceof Unreadable) return [error.message]
    throw error
  }
}

function contradictions(report: Report, values: readonly unknown[]): string[] {
  const target = targetOf(report)
  const own = values.map((value, index) => ownEntry(value, index, target.baseUrl))
  const passed = new Map(
    report.requirements.flatMap((result) =>
      result.outcome === 'passed' ? [[result.id, result] as const] : [],
    ),
  )
  const wrong = [...wrongOnes(own, target), ...wrongRefusals(own, target, report)].filter(
    ({ id }) => passed.has(id),
  )
  const isRight = rightRequests(own, wrong)
  const failing = groupBy(
    wrong.filter(({ id, by }) => !isRight(id, by)),
    ({ id }) => id,
  )
  return [
    ...[...failing].map(
      ([id, [first]]) =>
        `${id} passed in the report, but log.entries[${first!.by.entry.index}] was answered ${first!.by.entry.status}`,
    ),
    ...uncounted(report, own),
  ]
}

interface Wrong {
  readonly id: string
  readonly by: OwnEntry
}

/** What `check` finds wrong, of what the run judged as well. */
function wrongOnes(own: readonly OwnEntry[], target: Target): Wrong[] {
  const wrong: Wrong[] = []
  const judge = createRecordingJudge({
    target,
    redactor: new Redactor(),
    again: (index) => own[index]!.entry,
    onFailure(id, { exchange }) {
      const by = own[(exchange as RecordedHttpResponse).entry.index]!
      if (isLookedAt(id, by)) wrong.push({ id, by })
    },
  })
  const sentAt = ({ entry }: OwnEntry): number => entry.startedAt ?? 0
  for (const { entry } of own.toSorted((one, other) => sentAt(one) - sentAt(other)))
    judge.see(entry)
  judge.end()
  return wrong
}

/** Requirements whose requests go where nothing of the interface is: nothing but they judge the answers. */
const elsewhere = ['envelope/unknown-path', 'envelope/unsupported-method', 'pdf.parse/4xx-removed']
/** What a gateway answers in place of the service: a run asks again. */
const ofGateways = [429, 502, 503, 504]

/** Whether the run judged the answer by that requirement, too: not what was sent around a request, or to an odd place. */
function isLookedAt(id: string, { entry, operation, requirement, role }: OwnEntry): boolean {
  if (ofGateways.includes(entry.status) || operation === undefined) return false
  if (isObserved(id))
    return ['probe', 'poll'].includes(String(role)) && !elsewhere.includes(String(requirement))
  // Jobs are judged by all that was read of them; other rules over several answers look at them again.
  if (id.startsWith('jobs.retrieve/')) return true
  if (isRefusal(requirementOf(id as RequirementId).expects)) return false
  return requirement === id || (role === 'control' && requirement === null)
}

/** Whether each answer to its probes decides by itself: no state, no relation to others. */
function isJudgedAlone({
  expects,
  fault,
  id,
  judgedLast,
  operation,
}: CatalogueRequirement): boolean {
  if (!isRefusal(expects) || fault === 'state' || judgedLast === true) return false
  return !['guardrails', 'general', 'envelope'].includes(operation) && !elsewhere.includes(id)
}

/**
 * Refusals that no answer shows, or that more answers grant than refuse; with a wrong key none may be granted. A single other
 * answer is none: a guardrail, a value that was coerced, another case of the same requirement.
 */
function wrongRefusals(own: readonly OwnEntry[], { baseUrl }: Target, { run }: Report): Wrong[] {
  const redactor = new Redactor()
  const isAnswered = ({ entry, operation, role }: OwnEntry): boolean =>
    role === 'probe' && operation !== undefined && entry.status > 0
  const probes = groupBy(own.filter(isAnswered), ({ requirement }) => requirement)
  return catalogue.flatMap((judged) => {
    if (!isJudgedAlone(judged)) return []
    const isRefused = ({ entry, operation }: OwnEntry): boolean => {
      const path = pathUnder(baseUrl, entry.url)!
      const match = matchPairs(
        pairsOf(judged, operation!),
        recordResponse(entry, path, redactor).response,
      )
      return match === 'exact' || (match === 'family' && run.tpe === 'family')
    }
    const answers = probes.get(judged.id) ?? []
    const refused = answers.filter(isRefused)
    const others = answers.filter(
      (one) => !refused.includes(one) && !ofGateways.includes(one.entry.status),
    )
    const granted = others.filter(({ entry }) => entry.status < 300)
    const most = judged.fault === 'credentials' ? 0 : refused.length
    const [by] = granted.length > most ? granted : refused.length === 0 ? others : []
    return by ? [{ id: judged.id, by }] : []
  })
}

/** Whether that request was answered right as well: on another connection, at another time. */
function rightRequests(own: readonly OwnEntry[], wrong: readonly Wrong[]) {
  const wrongFor = new Set(wrong.map(({ id, by }) => `${id} ${by.entry.index}`))
  const keyOf = ({ entry, requirement }: OwnEntry): string =>
    JSON.stringify([
      requirement,
      entry.method,
      entry.url,
      entry.requestHeaders.filter(({ name }) => /^(authorization|content-type)$/i.test(name)),
      Buffer.from(entry.requestBody.bytes).toString('base64'),
    ])
  const groups = groupBy(own, keyOf)
  return (id: string, by: OwnEntry): boolean =>
    (groups.get(keyOf(by)) ?? []).some(
      (other) => other.entry.status > 0 && !wrongFor.has(`${id} ${other.entry.index}`),
    )
}

/** Counts that so few answers do not bear out, and requirements for which nothing was answered at all. */
function uncounted({ requirements }: Report, own: readonly OwnEntry[]): string[] {
  const answered = own.filter(({ entry }) => entry.status > 0)
  const byId = groupBy(answered, ({ requirement }) => requirement)
  const asked = new Set(answered.map(({ operation }) => operation as string | undefined))
  const credentials = new Set(
    catalogue.flatMap(({ fault, id }) => (fault === 'credentials' ? [id as string] : [])),
  )
  return requirements.flatMap(({ cases, id, operation, outcome }) => {
    if (outcome !== 'passed') return []
    const own = byId.get(id)?.length ?? 0
    if (cases === 0) return [`${id} passed without a case`]
    if (own === 0 && isOperationId(operation) && !asked.has(operation))
      return [`${id} passed, and ${operation} gave no answer`]
    const most = credentials.has(id) ? own : answered.length
    return cases > most ? [`${id} counts ${cases} cases, and there are ${most} answers`] : []
  })
}

function ownEntry(value: unknown, index: number, baseUrl: string): OwnEntry {
  const entry = recordedEntry(value, index)
  const { _requirement: requirement, _role: role } = value as Record<string, unknown>
  const place = operationAt(entry.method, pathUnder(baseUrl, entry.url) ?? '')
  const isUsual =
    place !== undefined &&
    operationOf(place.operation).path === place.path &&
    !Object.values(place.params).some((value) => /[;/]/.test(value))
  return { entry, requirement, role, operation: isUsual ? place.operation : undefined }
}

/** As much of the target as recorded traffic is judged by. */
function targetOf({ run, target: { baseUrl } }: Report): Target {
  const absent = Object.fromEntries(run.notServed.map(({ operation }) => [operation, 'not-served']))
  return {
    baseUrl,
    absent,
    operations: {},
    resources: {},
    limits: defaultLimits,
  } as unknown as Target
}
