import { isRefusal } from '../../catalogue/expected.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import {
  type Exchange,
  pathOf,
  type Probe,
  type RunOptions,
  runOptionsOf,
} from '../../harness/engine/index.ts'
import { createHandlerTransport, type Transport } from '../../harness/http/index.ts'
import { leftOut, type RecordedRequest } from '../../harness/report/index.ts'
import { loadTargetFile, resolveTarget, type Target } from '../../harness/target/index.ts'
import { createReference } from '../../reference/server.ts'
import { type LinePair, requestDifference } from '../../reporters/view/difference.ts'
import { referenceTargetFile } from '../../schemas/package-file.ts'
import { beginJudging, prepareRun } from '../../suites/judge.ts'
import { type PlannedCases, plannedCases } from '../../suites/planned-cases.ts'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Sent {
  readonly lines: readonly string[]
  /** Differences of the first of them from the request that was granted; none if it is the state that is wrong. */
  readonly difference: readonly LinePair[]
}

/**
 * Finds what is sent for each of the requirements, by id, by judging the reference server inside this process.
 * @param patienceMs longest wait: it shows what was sent by then
 */
export async function sentFor(
  requirements: readonly CatalogueRequirement[],
  patienceMs: number,
): Promise<ReadonlyMap<string, Sent>> {
  const { options, target, transport } = await referenceHere()
  const known = requirements.map(
    (requirement) => [requirement, plannedCases(requirement, target, options)] as const,
  )
  const unknown = known.filter(([, planned]) => !planned).map(([requirement]) => requirement)
  return new Map([
    ...known.flatMap(([requirement, planned]) =>
      planned ? [[requirement.id, fromCases(requirement, planned, target)] as const] : [],
    ),
    ...(unknown.length > 0
      ? await seen(unknown, target, { options, transport, patienceMs })
      : new Map<string, Sent>()),
  ])
}

async function referenceHere() {
  const reference = createReference()
  const { file, dir } = await loadTargetFile(referenceTargetFile)
  const { target } = await resolveTarget(file, { dir, env: {}, baseUrl: reference.url })
  const { handle, url: baseUrl } = reference
  const bodyLimit = target.limits.maxAnswerBytes
  return {
    target,
    transport: createHandlerTransport({ handle, baseUrl, bodyLimit }),
    options: { ...runOptionsOf({ seed: 1, runs: 1 }, 'conform'), nonce: 'explain', backoffMs: 2 },
  }
}

async function judgedIn(run: ReturnType<typeof prepareRun>, patienceMs: number) {
  const { done, results } = beginJudging(run)
  const over = new AbortController()
  const late = sleep(patienceMs, undefined, { signal: over.signal }).then(
    () => run.life.end('interrupted', leftOut('interrupted')),
    () => undefined,
  )
  await Promise.race([done, late])
  over.abort()
  return results
}

function fromCases(
  { expects }: CatalogueRequirement,
  { cases, draft, generated }: PlannedCases,
  target: Target,
): Sent {
  const [first] = cases
  if (!first || !draft) return { lines: [], difference: [] }
  const asRecorded = (probe: Probe): RecordedRequest => ({
    method: probe.method,
    url: target.baseUrl + pathOf(probe, target.query),
    headers: Object.fromEntries(probe.headers.map(({ name, value }) => [name, value])),
    body: typeof probe.body === 'string' ? probe.body : '',
  })
  const facts = { nonce: 'explain', created: [] }
  return {
    lines: [
      ...new Set(cases.map((one) => lineOf(one.change(draft), one.what))),
      ...(generated > 0 ? ['and as many more as --runs says, which are generated'] : []),
    ],
    difference: isRefusal(expects)
      ? requestDifference(asRecorded(draft), asRecorded(first.change(draft)), facts)
      : [],
  }
}

interface Judging {
  readonly options: RunOptions
  readonly transport: Transport
  readonly patienceMs: number
}

/** What is seen when the reference is judged by these requirements, whose requests depend on what it answers. */
async function seen(
  requirements: readonly CatalogueRequirement[],
  target: Target,
  { options: own, transport, patienceMs }: Judging,
): Promise<Map<string, Sent>> {
  const options = { ...own, only: requirements.map(({ id }) => id) }
  const run = prepareRun(target, options, { transport })
  const granted: Exchange[] = []
  const probes = new Map<string, Exchange[]>(requirements.map(({ id }) => [id, []]))
  run.client.observers.push((exchange) => {
    const { requirement, role } = exchange.purpose
    if (role === 'control') granted.push(exchange)
    else if (requirement !== null) probes.get(requirement)?.push(exchange)
  })
  await judgedIn(run, patienceMs)
  const facts = {
    nonce: options.nonce,
    created: run.objects.created.map((object) => ({ ...object })),
  }
  const sentOf = ({ id, fault, expects }: CatalogueRequirement): Sent => {
    const sent = probes.get(id) ?? []
    const first = sent.find(({ purpose }) => purpose.role === 'probe')
    const control = granted.find(({ probe }) => probe.operation === first?.probe.operation)
    const isCompared = first && control && isRefusal(expects) && fault !== 'state'
    return {
      lines: [...new Set(sent.map(({ probe, purpose }) => lineOf(probe, purpose.what)))],
      difference: isCompared
        ? requestDifference(control.recorded.request, first.recorded.request, facts)
        : [],
    }
  }
  return new Map(requirements.map((requirement) => [requirement.id, sentOf(requirement)]))
}

/** `POST /v1/translate with an empty text` */
export function lineOf(probe: Probe, what = ''): string {
  const members = Object.entries(probe.query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}=${value}`),
  )
  const query = members.length > 0 ? `?${members.join('&')}` : ''
  return `${probe.method} ${probe.path}${query} ${what}`.trim()
}
