import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal } from '../../catalogue/answers.ts'
import type { CatalogueRow } from '../../catalogue/catalogue.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { runOptionsOf } from '../../harness/engine/run-options.ts'
import { createHandlerTransport } from '../../harness/http/handler-transport.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { loadTargetFile } from '../../harness/target/load.ts'
import { resolveTarget } from '../../harness/target/resolve.ts'
import { type LinePair, requestDifference } from '../../reporters/view/difference.ts'
import { createReference } from '../../reference/server.ts'
import { beginJudging, prepareRun } from '../../suites/judge.ts'
import { referenceTargetFile } from '../run/embedded.ts'

/** Longest wait for an explanation, in ms: it shows what was sent by then. */
const patienceMs = 4_000

/** What is sent for a requirement. */
export interface Sent {
  /** A line each request. */
  readonly lines: readonly string[]
  /** What the first of them has otherwise than the request that was granted; none if it is the state that is wrong. */
  readonly difference: readonly LinePair[]
}

/** What is sent for a requirement: seen by judging the reference server inside this process. */
export async function sentFor({ id, fault, gives }: CatalogueRow): Promise<Sent> {
  const reference = createReference()
  const { file, dir } = await loadTargetFile(referenceTargetFile)
  const { target } = await resolveTarget(file, { dir, env: {}, baseUrl: reference.url })
  const bodyLimit = target.limits.maxAnswerBytes
  const transport = createHandlerTransport({ handle: reference.handle, baseUrl: reference.url, bodyLimit })
  const options = { ...runOptionsOf({ seed: 1, runs: 1, only: [id] }, 'conform'), nonce: 'explain', backoffMs: 2 }
  const run = prepareRun(target, options, { readDynamic: async () => '', transport })
  const lines = new Set<string>()
  const granted: Exchange[] = []
  let first: Exchange | undefined
  run.client.observers.push((exchange) => {
    const { purpose } = exchange
    if (purpose.role === 'control') granted.push(exchange)
    if (purpose.requirement !== id || purpose.role !== 'probe') return
    first ??= exchange
    lines.add(lineOf(exchange))
  })
  const { done } = beginJudging(run)
  const over = new AbortController()
  const late = sleep(patienceMs, undefined, { signal: over.signal }).then(
    () => run.life.end('interrupted', leftOut('interrupted')),
    () => undefined,
  )
  await Promise.race([done, late])
  over.abort()
  const control = granted.find(({ probe }) => probe.operation === first?.probe.operation)
  const facts = { nonce: options.nonce, created: run.objects.created.map((object) => ({ ...object })) }
  const compared = isRefusal(gives) && fault !== 'state' && control ? first : undefined
  return {
    lines: [...lines],
    difference: compared ? requestDifference(control!.recorded.request, compared.recorded.request, facts) : [],
  }
}

/** `POST /v1/translate with an empty text` */
function lineOf({ probe, purpose }: Exchange): string {
  const members = Object.entries(probe.query).map(([name, value]) => `${name}=${value}`)
  const query = members.length > 0 ? `?${members.join('&')}` : ''
  return `${probe.method} ${probe.path}${query} ${purpose.what ?? ''}`.trim()
}
