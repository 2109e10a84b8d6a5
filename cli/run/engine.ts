import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RequirementResult } from '../../harness/report/model.ts'
import type { Bridge, Message } from '../../harness/engine/bridge.ts'
import { openBridge } from '../../harness/engine/bridge.ts'
import type { RunFacts } from '../../harness/engine/facts.ts'
import type { EndCause } from '../../harness/engine/outcome.ts'
import type { WorkerInput } from '../../harness/engine/worker-run.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** The worker is told to end so often, in ms. */
const tellAgainMs = 100

export interface EngineHooks {
  /** For what the runner keeps while it runs. */
  readonly cacheDir: string
  onResult(result: RequirementResult): void
  /** Whether the run is not to begin any more. */
  isUnwanted(): boolean
  /** Asks for a key that a command or a function gives. */
  readKey(name: string): Promise<string>
}

/** A run under way in a worker. */
export interface Engine {
  /** Settles when the worker is done, with what went wrong in the suite itself. */
  readonly done: Promise<string | undefined>
  /** What the worker said last of the run as a whole. */
  facts(): RunFacts | undefined
  /** Ends the run: what is under way is dropped, clean-up is sent. */
  end(cause: EndCause, reason: string): void
}

/**
 * Runs the suites in one vitest worker of this process: one entry file, no isolation, no time limits of vitest's own.
 * It writes to `cacheDir` only, and looks at no configuration of whatever project the package is installed in.
 * @returns undefined where the run was not wanted any more before anything was sent
 */
export async function startEngine(input: WorkerInput, hooks: EngineHooks): Promise<Engine | undefined> {
  let facts: RunFacts | undefined
  const bridge: Bridge = openBridge(input.channel, (message: Message) => {
    if (message.kind === 'facts') facts = message.facts
    if (message.kind === 'key?') void answerKey(bridge, message.name, message.ask, hooks)
  })
  const { createVitest } = await import('vitest/node')
  if (hooks.isUnwanted()) return undefined
  const takeBack = keepListenersOut()
  const vitest = await createVitest(
    'test',
    {
      root,
      config: false,
      watch: false,
      dir: join(root, 'suites'),
      include: ['run.suite.ts'],
      exclude: [],
      cache: false,
      pool: 'threads',
      maxWorkers: 1,
      isolate: false,
      fileParallelism: false,
      maxConcurrency: 100_000,
      testTimeout: 0,
      hookTimeout: 0,
      teardownTimeout: 5_000,
      allowOnly: true,
      silent: true,
      reporters: [
        {
          onTestCaseResult: (test) => {
            const { conform } = test.meta()
            if (conform) hooks.onResult(conform)
          },
        },
      ],
      provide: { conform: input },
    },
    {
      cacheDir: hooks.cacheDir,
      css: { postcss: {} },
      envDir: false,
      publicDir: false,
      server: { watch: null },
      logLevel: 'silent',
    },
  )
  takeBack()
  if (hooks.isUnwanted()) return undefined
  let isDone = false
  const run = async (): Promise<string | undefined> => {
    try {
      const { testModules, unhandledErrors } = await vitest.start()
      const [problem] = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())]
      return problem === undefined ? undefined : messageOf(problem)
    } catch (error) {
      return messageOf(error)
    } finally {
      await vitest.close()
      isDone = true
      bridge.close()
    }
  }
  return {
    done: run(),
    facts: () => facts,
    end(cause, reason) {
      const tell = (): void => (isDone ? clearInterval(again) : bridge.post({ kind: 'end', cause, reason }))
      // A worker that is still being loaded does not hear it the first time.
      const again = setInterval(tell, tellAgainMs)
      tell()
    },
  }
}

/**
 * vitest ends the process on a signal, within a millisecond, and with code 1 where a promise is rejected: what it adds is
 * taken away before the next event, the run and the command line have their own.
 */
function keepListenersOut(): () => void {
  const names: readonly unknown[] = ['SIGINT', 'SIGTERM', 'exit', 'unhandledRejection']
  const onNew = (name: string | symbol, listener: () => void): void => {
    if (names.includes(name)) queueMicrotask(() => process.off(name, listener))
  }
  process.on('newListener', onNew)
  return () => process.off('newListener', onNew)
}

async function answerKey(bridge: Bridge, name: string, ask: number, hooks: EngineHooks): Promise<void> {
  try {
    bridge.post({ kind: 'key', ask, value: await hooks.readKey(name) })
  } catch (error) {
    bridge.post({ kind: 'key', ask, problem: messageOf(error) })
  }
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
}
