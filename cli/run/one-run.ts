import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as afterEvents } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { RunOptions } from '../../harness/client/index.ts'
import { factsOf, type RunFacts, startJudging } from '../../harness/run/index.ts'
import { noFacts, prepareRun, type RunRecord, reportOf } from '../../suites/judge.ts'
import {
  type Baseline,
  count,
  heldEntries,
  leftOut,
  readBaseline,
  readBaselineOrNone,
  type Report,
  decided,
  withBaseline,
  updateBaseline,
  withProblems,
  type RequirementResult,
  foreignBaseline,
} from '../../harness/report/index.ts'
import type { Target } from '../../harness/target/index.ts'
import {
  checkOutputs,
  hasEveryExchange,
  parseReportRequests,
  reportFiles,
  streamForPeople,
  type ReportRequest,
  followed,
  writeAtomically,
  makeRunFolder,
  keptExchanges,
  finish,
  complain,
  warnOf,
} from '../../library/output.ts'
import { formats } from '../../reporters/index.ts'
import { isEmbedded, type RunArguments, keepReport, runOptions } from './arguments.ts'
import type { Embedded } from './embedded.ts'
import { findTarget, type FoundTarget } from './find-target.ts'
import { type Interrupts, onLoss, stuck } from '../guard.ts'
import { type StartedServer, startServer } from './start-server.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { unwritable } from '../../harness/user-error.ts'
import { clearLine, cursorTo } from 'node:readline'
import { terminalText, duration } from '../../reporters/text.ts'

/** Runs once, from finding the target to its reports. `done` is false if what was sent did not end in time. */
export async function oneRun(
  baseUrl: string | undefined,
  options: RunArguments,
  interrupts: Interrupts,
  starting?: Promise<Embedded>,
) {
  const requests = parseReportRequests(options.report)
  const { baseline: baselineFile, updateBaseline } = options
  const read = updateBaseline ? readBaselineOrNone : readBaseline
  const baseline = baselineFile === undefined ? undefined : read(baselineFile)
  const found = await findTarget(baseUrl, options, starting)
  // Other formats only show exchanges that the failures contain.
  const folder = requests.some(hasEveryExchange) ? makeRunFolder() : undefined
  const loss: Loss = { sentence: undefined }
  const release = onLoss((sentence) => {
    loss.sentence ??= sentence
    return sentence !== undefined
  })
  let server: StartedServer | undefined
  try {
    const ofOther = baseline ? foreignBaseline(baseline, found.target) : []
    for (const warning of [...found.warnings, ...ofOther]) warnOf(warning)
    const expected = baseline ? heldEntries(baseline, new Date()) : []
    const log = folder && join(folder.path, 'exchanges.ndjson')
    const run = runOptions(options, baseUrl, { expected, exchangeLog: log })
    if (requests.length > 0 || updateBaseline) {
      const inputs = { ...found.inputs(), 'the report of --failed': options.failed }
      checkOutputs(reportFiles(requests), { ...inputs, 'the baseline': baselineFile })
      const option = `--update-baseline ${baselineFile}`
      if (baselineFile !== undefined && updateBaseline)
        checkOutputs([{ path: baselineFile, option }], inputs)
    }
    await Promise.all(requests.map((request) => formats[request.format].load()))
    if (!found.problem && (options.start !== undefined || options.wait !== undefined))
      server = await startServer(found, options, interrupts)
    const problem = found.problem
      ? ({ cause: 'lost', reason: found.problem } as const)
      : server?.problem
    const left = problem
      ? neverJudged(found.target, run, problem)
      : await judge(found, run, { interrupts, loss })
    const report = await publish(left.record, {
      options,
      requests,
      baseline,
      server,
      isEmbedded: isEmbedded(baseUrl, options),
    })
    await keepReport(report, { baseUrl, target: options.target })
    const { done, record } = left
    return { report, cause: record.facts.ended?.cause, done, target: found.target }
  } finally {
    release()
    folder?.remove()
    await server?.close()
    await found.worker?.terminate()
  }
}

/** Why the process cannot make further progress, once that is known. */
interface Loss {
  sentence: string | undefined
}

interface JudgedRun {
  readonly record: RunRecord
  readonly done: boolean
}

/** Time before a run that was ended but does not finish is abandoned, in ms. */
const graceMs = 1_000

async function judge(
  found: FoundTarget,
  options: RunOptions,
  ends: { readonly interrupts: Interrupts; readonly loss: Loss },
): Promise<JudgedRun> {
  const startedAt = new Date()
  const started = performance.now()
  let done = true
  let leaveBehind: () => void = () => undefined
  const overdue = new Promise<void>((resolve) => {
    leaveBehind = () => {
      done = false
      resolve()
    }
    ends.interrupts.onOverdue(leaveBehind)
  })
  // A signal that came meanwhile is handled before anything is sent.
  await afterEvents()
  const { signal } = ends.interrupts
  const why = leftOut('interrupted')
  if (signal.aborted) return neverJudged(found.target, options, { cause: 'interrupted', ...why })
  const reason = ends.loss.sentence
  if (reason !== undefined) return neverJudged(found.target, options, { cause: 'lost', reason })
  tuneV8(found.worker !== undefined)
  const run = prepareRun(found.target, options, { handler: found.handler })
  const { life } = run.client
  const judging = startJudging(run)
  const { results } = judging
  const planned = [...run.given.plan].flatMap(([id, one]) => (one.run ? [id] : []))
  signal.addEventListener('abort', () => life.end('interrupted', why))
  let problem: string | undefined
  const release = onLoss((sentence) => {
    if (life.ended?.cause === 'lost') leaveBehind()
    const [first = 'the end of what was sent', ...others] = planned.filter((id) => !results.has(id))
    const more = others.length > 0 ? ` and ${count(others.length, 'other requirement')}` : ''
    life.end('lost', sentence ?? stuck(`for ${first}${more}`))
    setTimeout(leaveBehind, graceMs)
    return true
  })
  const endProgress = showProgress(process.stderr, planned, results)
  try {
    await Promise.race([judging.done, overdue])
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error)
  } finally {
    endProgress()
    release()
  }
  const durationMs = performance.now() - started
  const { target } = found
  const facts = factsOf(run)
  return { record: { target, options, startedAt, durationMs, results, facts, problem }, done }
}

/**
 * Fits V8 of Node.js 20 to a run (docs/performance.md). Once everything is loaded: with other flags, V8 does not accept
 * the compiled form in which Node.js carries its own modules.
 */
function tuneV8(hasServer: boolean): void {
  if (!process.versions.v8.startsWith('11.')) return
  const flags = [
    // A run is short: much of what is optimized never pays off, least of all the HTTP parser, whose one large function takes
    // 90 ms and 29 MB. Later versions wait longer.
    ...['interrupt-budget=1500000', 'no-wasm-dynamic-tiering', 'no-wasm-tier-up'],
    // Few objects of a run outlive the nursery; threads that clear it together cost more than they save.
    'no-parallel-scavenge',
    // Without a server in this process there is memory for a nursery that grows, and is cleared a third as often, and for what
    // a run leaves behind: once is enough to mark it all.
    hasServer ? 'semi-space-growth-factor=1' : 'heap-growing-percent=500',
  ]
  for (const flag of flags) setFlagsFromString(`--${flag}`)
}

function neverJudged(target: Target, options: RunOptions, ended: RunFacts['ended']): JudgedRun {
  const facts = { ...noFacts, ended }
  return {
    record: { target, options, startedAt: new Date(), durationMs: 0, results: new Map(), facts },
    done: true,
  }
}

interface Publication {
  readonly options: RunArguments
  readonly requests: readonly ReportRequest[]
  readonly baseline: Baseline | undefined
  readonly server: StartedServer | undefined
  readonly isEmbedded: boolean
}

async function publish(record: RunRecord, publication: Publication): Promise<Report> {
  const { baseline, isEmbedded, options, requests, server } = publication
  const { jobsInProgress, recordingProblem } = record.facts
  const notes: string[] = []
  const problems: string[] = []
  if (jobsInProgress.length > 0)
    notes.push(`jobs still running when the run ended: ${jobsInProgress.join(', ')}`)
  const whole = reportOf(record)
  const held = baseline ? await heldAgainst(whole, baseline, options, { notes, problems }) : whole
  if (isEmbedded)
    notes.push('This run judged the embedded reference server. Judge yours: conform <base_url>')
  const { requireExercised = false, verbose: isVerbose = false } = options
  const report = baseline || requireExercised ? decided(held, { requireExercised }) : whole
  notes.push(...(server?.notes(report) ?? []))
  try {
    const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY: summary } = process.env
    if (GITHUB_ACTIONS === 'true' && summary)
      appendFileSync(summary, `${renderMarkdown(withProblems(report, problems))}\n`)
  } catch (error) {
    problems.push(unwritable('the job summary', error).message)
  }
  for (const problem of problems) complain(problem)
  if (recordingProblem !== undefined)
    notes.push(
      `the exchanges could not be stored (${recordingProblem}): no HAR is written, and HTML shows those of failures only`,
    )
  return finish(withProblems(report, problems), {
    ...keptExchanges(record.options.exchangeLog, recordingProblem, requests),
    ...{ people: streamForPeople(requests), notes, isVerbose },
  })
}

/** Applies the baseline, or its rewritten version, to the report; `messages` receives what to print. */
async function heldAgainst(
  whole: Report,
  baseline: Baseline,
  options: RunArguments,
  messages: { readonly notes: string[]; readonly problems: string[] },
): Promise<Report> {
  const now = new Date()
  const { run, verdict } = whole
  const { file } = baseline
  let held = baseline
  if (options.updateBaseline && (verdict === 'not-judged' || run.interrupted))
    messages.notes.push(`${file} was not changed: the run judged nothing, or not everything`)
  else if (options.updateBaseline) {
    const { baseline: updated, difference, text } = updateBaseline(baseline, whole, now)
    try {
      await writeAtomically(followed(file), text)
      held = updated
      const lines = difference.length > 0 ? difference : ['nothing changed']
      messages.notes.push(`${file} is updated:`, ...lines.map((line) => `  ${line}`))
    } catch (error) {
      messages.problems.push(unwritable(`--update-baseline ${file}`, error).message)
    }
  }
  return withBaseline(whole, held, now)
}

/** Milliseconds between two lines: on a terminal, where one line is rewritten, and in a log. */
const everyMs = { terminal: 500, log: 10_000 }

/**
 * Shows how far a run is: `133 of 302 judged, 2 failed; 12.0 s; now jobs.create`.
 * @param planned the ids to be judged; results of others do not count
 * @param results what was judged so far
 * @returns a function that ends it
 */
export function showProgress(
  stream: NodeJS.WriteStream,
  planned: readonly string[],
  results: ReadonlyMap<string, RequirementResult>,
) {
  const isRewritten = stream.isTTY && process.env.TERM !== 'dumb'
  const started = performance.now()
  const clear = (): void => {
    clearLine(stream, 0)
    cursorTo(stream, 0)
  }
  const show = (): void => {
    const judged = planned.filter((id) => results.has(id)).length
    const all = [...results.values()]
    const failed = all.filter((one) => one.outcome === 'failed' && one.level === 'must').length
    const failures = failed > 0 ? `, ${failed} failed` : ''
    const now = terminalText(all.at(-1)?.operation ?? 'the first request')
    const text = `conform: ${judged} of ${planned.length} judged${failures}; ${duration(performance.now() - started)}; now ${now}`
    if (!isRewritten) return void stream.write(`${text}\n`)
    clear()
    // Some terminals wrap a line that fills the last column.
    stream.write(text.slice(0, (stream.columns || 80) - 1))
  }
  const timer = setInterval(show, isRewritten ? everyMs.terminal : everyMs.log).unref()
  return (): void => {
    clearInterval(timer)
    if (isRewritten) clear()
  }
}
