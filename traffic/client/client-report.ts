import { catalogue, specVersion } from '../../catalogue/catalogue.ts'
import { type OperationId, operations } from '../../catalogue/operations.ts'
import { isRefusal } from '../../catalogue/expected.ts'
import { groupBy } from '../../harness/group-by.ts'
import { count, suiteVersion } from '../../harness/report/index.ts'
import { member } from '../../schemas/json.ts'
import { type ClientFinding, findingText } from './finding.ts'
import { type Played, stepText } from './script.ts'

/** What a client sent, and what of it is wrong: the facts of which a report is made. */
export interface ClientFacts {
  readonly startedAt: Date
  readonly durationMs: number
  readonly requests: number
  /** Requests that do not keep the interface, and those that were refused though nobody wanted that. */
  readonly wrong: { readonly faulty: number; readonly refused: number }
  readonly answered: Iterable<Answered>
  readonly findings: readonly ClientFinding[]
  readonly script: readonly (Played & Taken)[]
  /** Steps of the script that no request came for. */
  readonly left: number
  /** How the server is brought to each condition: the scenarios of its target file. */
  readonly scenarios: Readonly<Record<string, unknown>>
}

/** An answer that a client got to an operation, and how often; its status is 0 if none came. */
export interface Answered {
  readonly operation: OperationId
  readonly status: number
  /** The `tpe` of the errors. */
  readonly tpe: string | undefined
  count: number
}

/** How a client took an answer of a script. */
export interface Taken {
  /** ms until the same call came again; undefined: it did not. */
  readonly waitedMs: number | undefined
  readonly isTooSoon: boolean
}

/** Requests of a client, and what is wrong with them. */
export type ClientReport = ReturnType<typeof clientReport>

export function clientReport(facts: ClientFacts) {
  const { durationMs, findings, requests, scenarios, startedAt, wrong } = facts
  const counted = groupBy(facts.answered, ({ operation }) => operation)
  const used = operations.flatMap(({ id, ...about }) => {
    const own = counted.get(id)
    if (!own) return []
    const answers = own.filter(({ status }) => status > 0).sort((a, b) => a.status - b.status)
    const entry = {
      ...{ operation: id, deprecated: 'deprecated' in about },
      requests: own.reduce((sum, one) => sum + one.count, 0),
      answers: answers.map(({ status, tpe, count: times }) => ({ status, tpe, count: times })),
      errors: errorsOf(id, answers, scenarios),
    }
    return [entry]
  })
  return {
    format: 'client-report/1' as const,
    suite: { name: 'ai-content-conformance', version: suiteVersion(), specVersion },
    startedAt: startedAt.toISOString(),
    durationMs,
    requests,
    /** Requests that did not keep the interface, those included that were refused though nobody wanted that. */
    wrong: wrong.faulty + wrong.refused,
    exit: exitOf(facts, used.length),
    operations: used,
    unused: operations
      .map(({ id }) => id)
      .filter((id) => used.every(({ operation }) => operation !== id)),
    findings: findings.map((finding) => ({ ...finding, ...findingText(finding.fault) })),
    script: facts.script.map(({ isTooSoon, operation, step, waitedMs }) => ({
      ...{ operation, step, answered: stepText(step), isTooSoon },
      waitedMs: waitedMs === undefined ? undefined : Math.round(waitedMs),
    })),
  }
}

function exitOf({ findings, left, wrong: { faulty, refused } }: ClientFacts, used: number) {
  const kept = faulty > 0 ? [`${count(faulty, 'request')} did not keep the interface`] : []
  const was = refused === 1 ? 'was' : 'were'
  const asked =
    refused > 0 ? [`${count(refused, 'request')} ${was} refused, and nobody asked for that`] : []
  if (faulty + refused > 0) return { code: 1, because: [...kept, ...asked].join('; ') }
  if (used === 0) return { code: 3, because: 'no request to an operation of the interface came' }
  if (left > 0)
    return {
      code: 3,
      because: `${count(left, 'answer')} of the script ${left === 1 ? 'was' : 'were'} never asked for: whether the client tries again was not seen`,
    }
  const remarks = findings.length === 0 ? '' : `; ${count(findings.length, 'remark')}`
  const isRefused = findings.some(({ fault }) => fault.rule === 'refused')
  const good = isRefused ? 'no request was wrong by itself' : 'every request kept the interface'
  return { code: 0, because: good + remarks }
}

/** The errors that the operation's requirements name, by status and type: how often each was met, and what brings it about. */
function errorsOf(
  id: OperationId,
  answers: readonly Answered[],
  scenarios: ClientFacts['scenarios'],
) {
  const named = catalogue.flatMap(({ expects, id: requirement, operation }) => {
    if (operation !== id || !isRefusal(expects)) return []
    const [[status, tpe] = []] = expects as readonly (readonly [unknown, string?])[]
    return typeof status === 'number' && tpe !== undefined ? [{ requirement, status, tpe }] : []
  })
  const byPair = [...groupBy(named, ({ status, tpe }) => `${status} ${tpe}`).values()]
  const errors = byPair.map((same) => {
    const { status, tpe } = same[0]!
    const ids = same.map(({ requirement }) => requirement)
    const met = answers.find((answer) => answer.status === status && answer.tpe === tpe)?.count ?? 0
    const asked = ids.map((one) => member(member(scenarios[one], 'headers'), 'x-simulate'))
    const simulate = asked.find((value) => value !== undefined)
    const value =
      typeof simulate === 'string' ? simulate.split(' ').slice(0, 2).join(' ') : undefined
    return { status, tpe, ids, met, ...(value !== undefined && { simulate: value }) }
  })
  return errors.sort((a, b) => a.status - b.status)
}
