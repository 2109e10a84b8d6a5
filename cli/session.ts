import {
  type Report,
  type RequirementResult,
  isLeftOutByOption,
  matchesId,
} from '../harness/report/index.ts'
import type { RunArguments } from './run/arguments.ts'
import { neededBy } from './run/options.ts'
import { createHash } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isLoopback } from '../harness/loopback.ts'
import type { Target } from '../harness/target/index.ts'
import { UserError } from '../harness/user-error.ts'
import type { People } from '../library/output/say.ts'
import { askOnce, takesConnections } from './run/find-target.ts'
import { createRunInterrupts } from './guard.ts'
import { oneRun } from './run/one-run.ts'

export type Changes = NonNullable<ReturnType<ReturnType<typeof createResults>['add']>>

export function createResults() {
  /** The last result of each that passed or failed: one that could not be judged changes nothing. */
  const known = new Map<string, RequirementResult>()
  let order: readonly string[] = []
  const compared = (results: readonly RequirementResult[]) => {
    const before = (id: string) => known.get(id)?.outcome
    const idsOf = (fits: (result: RequirementResult) => boolean) =>
      results.filter(fits).map(({ id }) => id)
    return {
      newlyFailed: idsOf(({ id, outcome }) => outcome === 'failed' && before(id) !== 'failed'),
      newlyPassed: idsOf(({ id, outcome }) => outcome === 'passed' && before(id) === 'failed'),
      /** Failed before, and was not judged now. */
      lost: idsOf(({ id, outcome }) => outcome === 'not-exercised' && before(id) === 'failed'),
      stillFailed: idsOf(({ id, outcome }) => outcome === 'failed' && before(id) === 'failed')
        .length,
    }
  }
  return {
    /** Failed when it was last judged, in the order of the catalogue. */
    get failed() {
      return order
        .flatMap((id) => known.get(id) ?? [])
        .filter(({ outcome }) => outcome === 'failed')
    },
    /** Takes in a run; undefined if it was the first one. */
    add({ requirements }: Report) {
      const isFirst = known.size === 0
      const looked = requirements.filter((result) => !isLeftOutByOption(result))
      const changes = compared(looked)
      order = requirements.map(({ id }) => id)
      for (const result of looked) {
        if (result.outcome === 'passed' || result.outcome === 'failed') known.set(result.id, result)
      }
      return isFirst ? undefined : changes
    },
  }
}

/** Selection of a run of a session: what the command line selects, what failed, or these ids and patterns. */
export type Selection = 'all' | 'failed' | readonly string[]

/**
 * The options of a run that judges a part again: what the failures of that part need, with the inputs that they had. No report
 * is written for a part.
 */
export function optionsFor(
  selection: Selection,
  options: RunArguments,
  failed: readonly RequirementResult[],
): RunArguments {
  if (selection === 'all') return options
  const chosen =
    selection === 'failed'
      ? failed
      : failed.filter(({ id }) => selection.some((pattern) => matchesId(id, pattern)))
  const only = new Set([...(selection === 'failed' ? [] : selection), ...chosen.flatMap(neededBy)])
  const seed = chosen.flatMap(({ failures }) => failures).at(0)?.seed
  return { ...options, only: [...only], skip: [], report: [], seed: seed ?? options.seed }
}

export interface RunStarted {
  /** Why: `the target file changed`. */
  readonly why: string
  readonly selection: Selection
}

export interface RunEnded extends RunStarted {
  readonly report: Report
  /** Undefined after the first run. */
  readonly changes: Changes | undefined
  /** The target took no requests: `gone` comes next. */
  readonly isGone: boolean
}

export interface SessionFront {
  readonly people: People
  started(run: RunStarted): void
  ended(run: RunEnded): void
  /** A run that could not begin: what is wrong, and what to do about it. */
  problem(sentence: string): void
  /** The target takes no requests; it is run again when it does. */
  gone(): void
}

export type Session = ReturnType<typeof createSession>

/**
 * Runs what `conform` with these options runs, whenever it is told to, when a file that the target is read from changes, and
 * when the target comes back after a restart. What runs by itself is what ran last.
 */
export function createSession(
  baseUrl: string | undefined,
  options: RunArguments,
  front: SessionFront,
) {
  const results = createResults()
  let next: RunStarted | undefined
  let last: Selection = 'all'
  let running: Promise<void> | undefined
  let interrupts: ReturnType<typeof createRunInterrupts> | undefined
  let files: ReturnType<typeof watchFiles> | undefined
  let watching = new AbortController()
  let isClosed = false

  const again = (why: string): void =>
    run(last === 'failed' && results.failed.length === 0 ? 'all' : last, why)
  function run(selection: Selection, why: string): void {
    if (isClosed) return
    next = { selection, why }
    interrupts?.interrupt()
    running ??= runAll()
  }

  async function runAll(): Promise<void> {
    try {
      for (let started = next; started !== undefined && !isClosed; started = next) {
        next = undefined
        await runOne(started)
      }
    } finally {
      running = undefined
    }
  }

  async function runOne(started: RunStarted): Promise<void> {
    watching.abort()
    last = started.selection
    interrupts = createRunInterrupts()
    let target: Target | undefined
    front.started(started)
    try {
      const end = await oneRun(baseUrl, optionsFor(started.selection, options, results.failed), {
        interrupts,
        people: front.people,
        onFound(found) {
          target = found.target
          watch(Object.values(found.inputs()).filter((path) => path !== undefined))
        },
      })
      // The embedded reference ends with its run.
      const isOurs = baseUrl === undefined && options.target === undefined
      const isLookedAt = !isOurs && !isClosed && next === undefined
      const isGone = isLookedAt && end.cause === 'unreachable'
      front.ended({ ...started, report: end.report, changes: results.add(end.report), isGone })
      if (target && isLookedAt) lookAt(target, isGone)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      if (!target && options.target !== undefined) watch([options.target])
      front.problem(error.message)
    } finally {
      interrupts.stop()
      interrupts = undefined
    }
  }

  function watch(paths: readonly string[]): void {
    files?.close()
    files = isClosed ? undefined : watchFiles(paths, (path) => again(`${path} changed`))
  }

  function lookAt(target: Target, isGone: boolean): void {
    watching = new AbortController()
    const { signal } = watching
    const onBack = (): void => again('the target answers again')
    void watchTarget(target, isGone, { signal, onGone: () => front.gone(), onBack })
  }

  return {
    get isRunning(): boolean {
      return running !== undefined
    },
    get failed() {
      return results.failed.length
    },
    /** Runs that part; a run that goes on is ended first. */
    run,
    interrupt: (): void => interrupts?.interrupt(),
    idle: async (): Promise<void> => running,
    /** Ends everything; settles when the run has ended. */
    async close(): Promise<void> {
      isClosed = true
      files?.close()
      watching.abort()
      interrupts?.interrupt()
      await running
    },
  }
}

// Editors write in several steps: a file is read when it has been left alone for as long.
const lookAtFilesMs = 150

/** Calls back when the content of one of the files has changed, also if another file was put in its place. */
export function watchFiles(paths: readonly string[], onChange: (path: string) => void) {
  const stops = [...new Set(paths.map((path) => resolve(path)))].map((path) => {
    let content = digest(path)
    let timer: NodeJS.Timeout | undefined
    const look = (): void => {
      const now = digest(path)
      // While it is written it may not be there for a moment.
      if (now === undefined || now === content) return
      content = now
      onChange(path)
    }
    const lookSoon = (): void => {
      clearTimeout(timer)
      timer = setTimeout(look, lookAtFilesMs).unref()
    }
    watchFile(path, { interval: lookAtFilesMs, persistent: false }, lookSoon)
    // What changes before the first look of Node.js is seen, too.
    lookSoon()
    return () => {
      clearTimeout(timer)
      unwatchFile(path, lookSoon)
    }
  })
  return { close: () => stops.forEach((stop) => stop()) }
}

function digest(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return undefined
  }
}

/** Between two looks at a target that answers, and at one that does not, in ms. */
const lookMs = 250
const askMs = 500
const responseMs = 5_000

/**
 * Notices a target that restarts: `onGone` is called once when it is found gone, and `onBack` once when it answers again, which ends
 * the watch. On this machine, one that takes no more connections is gone; nothing is sent for that. From elsewhere only a run can
 * tell, and says so by `isGone`. Then `GET /v1/files` is sent until any answer comes.
 */
export async function watchTarget(
  target: Target,
  isGone: boolean,
  { onBack, onGone, signal }: { onGone: () => void; onBack: () => void; signal: AbortSignal },
) {
  try {
    if (!isGone) {
      if (!isLoopback(new URL(target.baseUrl).hostname)) return
      while (await takesConnections(target.baseUrl)) await pause(lookMs, undefined, { signal })
      signal.throwIfAborted()
    }
    onGone()
    while ((await askOnce(target, responseMs, signal)).kind !== 'answer')
      await pause(askMs, undefined, { signal })
    signal.throwIfAborted()
    onBack()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
