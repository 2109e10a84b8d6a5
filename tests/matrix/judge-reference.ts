import { setTimeout as sleep } from 'node:timers/promises'
import { inVirtualTime } from '../support/virtual-time.ts'
import { fileURLToPath } from 'node:url'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import { isLeftOut } from '../../harness/report/reason.ts'
import { verdictOf } from '../../harness/report/verdict.ts'
import { prepareRun, reportOf } from '../../suites/judge.ts'
import { factsOf, type RunFacts, startJudging } from '../../harness/run/judging.ts'
import type { RunOptions } from '../../harness/client/state.ts'
import type { Prepared } from '../../harness/run/run.ts'
import { loadTargetFile } from '../../harness/target/load.ts'
import type { Limits, Target, TargetFile } from '../../harness/target/model.ts'
import { resolveTarget } from '../../harness/target/resolve.ts'
import {
  createReference,
  needsSocket,
  type ReferenceOptions,
  startReference,
} from '../../reference/server.ts'
import { createHandlerTransport, type Handler } from '../../harness/http/handler-transport.ts'
import type { Transport } from '../../harness/http/message.ts'
import type { Report, RequirementResult } from '../../schemas/report.ts'

const referenceTarget = loadTargetFile(
  fileURLToPath(new URL('../../fixtures/reference.target.json', import.meta.url)),
)

export class Judged {
  readonly verdict: Report['verdict']
  readonly facts: RunFacts
  readonly failed: readonly string[]
  readonly passed: readonly string[]
  readonly run: Prepared
  readonly results: readonly RequirementResult[]

  constructor(run: Prepared, results: readonly RequirementResult[]) {
    this.run = run
    this.results = results
    this.facts = factsOf(run)
    this.failed = idsOf(results, 'failed')
    this.passed = idsOf(results, 'passed')
    const { only, skip, readOnly } = run.given.options
    this.verdict = verdictOf(results, {
      only: [...only],
      skip: [...skip],
      readOnly,
      keyRefused: this.facts.keyRefused,
      interrupted: this.facts.ended !== null,
    })
  }

  readonly of = (id: string): RequirementResult => this.results.find((one) => one.id === id)!

  get report(): Report {
    return reportOf({
      target: this.run.given.target,
      options: this.run.given.options,
      facts: this.facts,
      results: new Map(this.results.map((result) => [result.id, result])),
      startedAt: new Date(),
      durationMs: 1,
    })
  }
}

export interface JudgeSettings {
  readonly options?: Partial<RunOptions>
  readonly limits?: Partial<Limits>
  /** Changes the reference's own target file. */
  readonly change?: (file: TargetFile) => TargetFile
  /** Called with the run before it begins. */
  readonly prepare?: (run: Prepared) => void
  /** Gets each answer to a request of the interface. */
  readonly observe?: (exchange: Exchange, run: Prepared) => void
  /** How each requirement is judged, if not by the suites. */
  readonly judgingOf?: Prepared['judgingOf']
  /** How requests travel, if not by sockets. */
  readonly transport?: Transport
  /** ms that a request takes in virtual time; 1 if not given, so that one thing comes after another. */
  readonly latencyMs?: number
  /** A layer between the suite and a reference in this process. */
  readonly network?: (transport: Transport) => Transport
  /** Answers in place of a reference in this process, which it may ask. */
  readonly instead?: (reference: Handler) => Handler
}

/** Few generated cases and short pauses: hundreds of runs go through it. */
const quick: RunOptions = {
  seed: 421,
  refusalRuns: 2,
  grantedRuns: 1,
  nonce: 'test',
  tpe: 'exact',
  strict: false,
  readOnly: false,
  bail: Infinity,
  depth: 'full',
  insecure: false,
  only: [],
  skip: [],
  expected: [],
  rerun: 'conform',
  backoffMs: 2,
}

const unchanged = (file: TargetFile): TargetFile => file

/** Targets by how their file is changed, then by address and limits. Each run gets a copy: what it learns hangs on its target. */
const targets = new WeakMap<object, Map<string, ReturnType<typeof resolveTarget>>>()

async function targetAt(url: string, settings: JudgeSettings): Promise<Target> {
  const { change = unchanged, limits } = settings
  const { file, dir } = await referenceTarget
  const known = targets.get(change) ?? new Map<string, ReturnType<typeof resolveTarget>>()
  targets.set(change, known)
  const at = JSON.stringify([url, limits])
  const ports = { dir, env: {}, baseUrl: url, ...(limits ? { limits } : {}) }
  const resolved = known.get(at) ?? resolveTarget(change(file), ports)
  known.set(at, resolved)
  return { ...(await resolved).target }
}

export async function judgeUrl(url: string, settings: JudgeSettings = {}): Promise<Judged> {
  const target = await targetAt(url, settings)
  const { transport, observe } = settings
  const run = prepareRun(target, { ...quick, ...settings.options }, transport ? { transport } : {})
  settings.prepare?.(run)
  if (observe)
    run.client.hooks = {
      ...run.hooks,
      answered(exchange) {
        run.hooks.answered(exchange)
        observe(exchange, run)
      },
    }
  const judging = startJudging({ ...run, judgingOf: settings.judgingOf ?? run.judgingOf })
  await judging.done
  const results = catalogue.map(({ id }) => judging.results.get(id) as RequirementResult)
  return new Judged(run, results)
}

/** In this process, but if a switch shows on a socket alone. */
export async function judgeReference(
  reference: ReferenceOptions = {},
  settings: JudgeSettings = {},
): Promise<Judged> {
  const switches = [...(reference.defects ?? []), ...(reference.variants ?? [])]
  return switches.some(needsSocket)
    ? judgeOnSocket(reference, settings)
    : judgeInProcess(reference, settings)
}

export async function judgeOnSocket(
  reference: ReferenceOptions,
  settings: JudgeSettings = {},
): Promise<Judged> {
  const server = await startReference(reference)
  try {
    return await judgeUrl(server.url, settings)
  } finally {
    await server.close()
  }
}

function judgeInProcess(options: ReferenceOptions, settings: JudgeSettings): Promise<Judged> {
  return inVirtualTime(async () => {
    const reference = createReference(options)
    const { url } = reference
    const handle = settings.instead?.(reference.handle) ?? reference.handle
    const transport = transportTo({ url, handle }, settings.latencyMs)
    return judgeUrl(reference.url, {
      ...settings,
      transport: settings.network?.(transport) ?? transport,
    })
  })
}

/** Hands requests to the reference, in virtual time. */
export function transportTo(
  { url, handle }: { readonly url: string; readonly handle: Handler },
  latencyMs = 1,
): Transport {
  const transport = createHandlerTransport({ handle, baseUrl: url, bodyLimit: 8 * 1024 * 1024 })
  return {
    ...transport,
    async send(request, options) {
      await sleep(latencyMs)
      const result = await transport.send(request, options)
      // Under way for a part of the time, and sent at no moment at which another one was answered.
      return { ...result, sentAt: result.sentAt - latencyMs / 2 }
    },
  }
}

export function idsOf(
  results: readonly RequirementResult[],
  outcome: RequirementResult['outcome'],
): string[] {
  return results.filter((result) => result.outcome === outcome).map(({ id }) => id)
}

/** What failed or was not exercised, and why, a line each; what was not asked for is not told. */
export function reasons(results: readonly RequirementResult[]): string {
  return results
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'not-exercised')
    .filter((result) => !isLeftOut(result, '--only'))
    .map(
      ({ id, reason, failures: [first] }) =>
        `${id}: ${reason ?? `${first?.message} | ${first?.actual}`}`,
    )
    .join('\n')
}
