import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal } from '../../catalogue/requirement.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { runOptionsOf } from '../../harness/engine/run.ts'
import { createHandlerTransport } from '../../harness/http/handler-transport.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { loadTargetFile } from '../../harness/target-file/load.ts'
import { resolveTarget } from '../../harness/target-file/resolve.ts'
import { type LinePair, requestDifference } from '../../reporters/view/difference.ts'
import { createReference } from '../../reference/server.ts'
import { beginJudging, prepareRun } from '../../suites/judge.ts'
import { referenceTargetFile } from '../../schemas/package-file.ts'

/** Requests that are sent for a requirement. */
export interface Sent {
  /** A line each request. */
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
  const reference = createReference()
  const { file, dir } = await loadTargetFile(referenceTargetFile)
  const { target } = await resolveTarget(file, { dir, env: {}, baseUrl: reference.url })
  const bodyLimit = target.limits.maxAnswerBytes
  const transport = createHandlerTransport({ handle: reference.handle, baseUrl: reference.url, bodyLimit })
  const options = {
    ...runOptionsOf({ seed: 1, runs: 1, only: requirements.map(({ id }) => id) }, 'conform'),
    nonce: 'explain',
    backoffMs: 2,
  }
  const run = prepareRun(target, options, { readDynamic: async () => '', transport })
  const granted: Exchange[] = []
  const probes = new Map<string, Exchange[]>(requirements.map(({ id }) => [id, []]))
  run.client.observers.push((exchange) => {
    const { requirement, role } = exchange.purpose
    if (role === 'control') granted.push(exchange)
    if (role === 'probe' && requirement !== null) probes.get(requirement)?.push(exchange)
  })
  const { done } = beginJudging(run)
  const over = new AbortController()
  const late = sleep(patienceMs, undefined, { signal: over.signal }).then(
    () => run.life.end('interrupted', leftOut('interrupted')),
    () => undefined,
  )
  await Promise.race([done, late])
  over.abort()
  const facts = { nonce: options.nonce, created: run.objects.created.map((object) => ({ ...object })) }
  const sentOf = ({ id, fault, expects }: CatalogueRequirement): Sent => {
    const sent = probes.get(id) ?? []
    const [first] = sent
    const control = granted.find(({ probe }) => probe.operation === first?.probe.operation)
    const isCompared = first && control && isRefusal(expects) && fault !== 'state'
    return {
      lines: [...new Set(sent.map(lineOf))],
      difference: isCompared ? requestDifference(control.recorded.request, first.recorded.request, facts) : [],
    }
  }
  return new Map(requirements.map((requirement) => [requirement.id, sentOf(requirement)]))
}

/** `POST /v1/translate with an empty text` */
function lineOf({ probe, purpose }: Exchange): string {
  const members = Object.entries(probe.query).map(([name, value]) => `${name}=${value}`)
  const query = members.length > 0 ? `?${members.join('&')}` : ''
  return `${probe.method} ${probe.path}${query} ${purpose.what ?? ''}`.trim()
}
