import { warnOf, colorsFor } from '../output/say.ts'
import { join } from 'node:path'
import type { RunEvent } from '../../harness/engine/events.ts'
import type { EndCause } from '../../harness/engine/outcome.ts'
import {
  heldEntries,
  type Baseline,
  foreignBaseline,
  readBaseline,
  readBaselineOrNone,
} from '../../harness/report/baseline.ts'
import type { Report } from '../../harness/report/model.ts'
import type { Interrupts } from './interrupts.ts'
import { isSecretName } from '../../harness/target/map-keys.ts'
import type { People } from '../output/finish.ts'
import { parseReportRequests, type ReportRequest } from '../output/report-request.ts'
import { loadFormats } from '../output/write-reports.ts'
import type { RunArguments } from './arguments.ts'
import { findTarget, type FoundTarget } from './find-target.ts'
import { redactorFor } from '../../harness/target/redactor-for.ts'
import { type StartedServer, startServer } from './start-server.ts'
import { judge, type Judged, neverJudged } from './judge.ts'
import { publish } from './publish.ts'
import type { Exchanges } from '../../reporters/view/evidence.ts'
import { loggedExchanges } from '../output/exchanges.ts'
import { makeRunFolder } from '../output/run-folder.ts'
import { keepsExchanges, runOptions } from './run-options.ts'
import { checkOutputs, reportFiles } from '../output/check-outputs.ts'

/** Who asks for a run, and who is called while it goes on. */
export interface RunFront {
  readonly interrupts: Interrupts
  /** Where the report for people goes. */
  readonly people: People
  /** Called before anything is sent. */
  readonly onFound?: (found: FoundTarget) => void
  readonly onEvent?: (event: RunEvent) => void
  /** Called when the reports are written, with what was sent: it can be read until the promise is settled. */
  readonly onSent?: (exchanges: Exchanges) => Promise<void>
  /** Called at the very end of a run that did not end in time: what is left of it keeps the process alive. */
  readonly onLeftBehind?: () => void
}

/** How a run ended. */
export interface RunEnd {
  readonly report: Report
  /** What ended it before its time. */
  readonly cause: EndCause | undefined
}

/** Finds the target, judges it, writes the reports and the one for people, and sets the exit code. */
export async function oneRun(baseUrl: string | undefined, options: RunArguments, front: RunFront): Promise<RunEnd> {
  const requests = parseReportRequests(options.report)
  const baseline = baselineOf(options)
  const found = await findTarget(baseUrl, options)
  const folder = makeRunFolder()
  let left: Judged | undefined
  let server: StartedServer | undefined
  try {
    front.onFound?.(found)
    warn(found, options, baseline)
    const expected = baseline ? heldEntries(baseline, new Date()) : []
    const start = options.start === undefined ? {} : { start: redactorFor(found.target).text(options.start) }
    const isKept = front.onSent !== undefined || keepsExchanges(options)
    const log = isKept ? join(folder.path, 'exchanges.ndjson') : undefined
    const run = runOptions({ ...options, ...start }, baseUrl, expected, log)
    checkFiles(requests, options, found)
    if (requests.length > 0) await loadFormats()
    const { interrupts, onEvent, people } = front
    const stream = process.stderr
    server = await startServer(found, options, interrupts)
    left = server.problem
      ? neverJudged(found, run, server.problem)
      : await judge(found, run, { interrupts, stream, colors: colorsFor(stream), ...(onEvent ? { onEvent } : {}) })
    const report = await publish(left.record, { options, requests, people, baseline, server })
    await front.onSent?.(loggedExchanges(run.exchangeLog))
    return { report, cause: left.record.facts.ended?.cause }
  } finally {
    folder.remove()
    await server?.close()
    await found.close()
    if (left?.done === false) front.onLeftBehind?.()
  }
}

/** The baseline that was asked for; throws UserError if it cannot be read. */
export function baselineOf({ baseline, updateBaseline, tpe }: RunArguments): Baseline | undefined {
  if (baseline === undefined) return undefined
  return updateBaseline ? readBaselineOrNone(baseline, tpe) : readBaseline(baseline, tpe)
}

/** Nothing is sent for a report that could not be written, or that would overwrite what it is made from. */
function checkFiles(requests: readonly ReportRequest[], options: RunArguments, { inputs }: FoundTarget): void {
  const { baseline: path, updateBaseline } = options
  if (path === undefined) return checkOutputs(reportFiles(requests), inputs)
  checkOutputs(reportFiles(requests), [...inputs, { path, what: 'the baseline' }])
  if (updateBaseline) checkOutputs([{ path, option: `--update-baseline ${path}` }], inputs)
}

/** Says on stderr what may be meant otherwise. */
export function warn({ target, warnings }: FoundTarget, options: RunArguments, baseline: Baseline | undefined): void {
  const all = [...warnings, ...(baseline ? foreignBaseline(baseline, target) : [])]
  if (options.key !== undefined) {
    all.push(
      '--key: other users of this machine can see it in the process list; CONFORM_API_KEY or keys.full in the target file is not seen',
    )
  }
  for (const [name, value] of Object.entries(options.header ?? {})) {
    if (typeof value === 'string' && isSecretName(name))
      all.push(
        `--header ${name}: other users of this machine can see it in the process list; 'env:NAME' as its value is not seen`,
      )
  }
  for (const warning of all) warnOf(warning)
}
