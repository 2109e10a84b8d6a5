import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RequirementResult } from '../../spec/report.ts'
import type { Bridge, Message } from '../../harness/run/bridge.ts'
import { openBridge } from '../../harness/run/bridge.ts'
import type { RunFacts } from '../../harness/run/facts.ts'
import type { EndCause } from '../../harness/run/outcome.ts'
import type { WorkerInput } from '../../harness/run/worker-run.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface EngineHooks {
  onResult(result: RequirementResult): void
  /** Asks for a key that a command or a function gives. */
  readKey(name: string): Promise<string>
}

/** A run under way in a worker. */
export interface Engine {
  /** Settles when the worker is done; rejects on a mistake of the suite. */
  readonly done: Promise<void>
  /** What the worker said last of the run as a whole. */
  facts(): RunFacts | undefined
  /** Ends the run: what is under way is dropped, clean-up is sent. */
  end(cause: EndCause, reason: string): void
}

/**
 * Runs the suites in one vitest worker of this process: one entry file, no isolation, no time limits of vitest's own.
 * Its cache goes to the temporary folder, so that an installed package is never written to.
 */
export async function startEngine(input: WorkerInput, hooks: EngineHooks): Promise<Engine> {
  let facts: RunFacts | undefined
  const bridge: Bridge = openBridge(input.channel, (message: Message) => {
    if (message.kind === 'facts') facts = message.facts
    if (message.kind === 'key?') void answerKey(bridge, message.name, message.ask, hooks)
  })
  const { createVitest } = await import('vitest/node')
  const problems: unknown[] = []
  const vitest = await createVitest(
    'test',
    {
      root,
      config: false,
      watch: false,
      include: ['suites/run.suite.ts'],
      exclude: [],
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
    { cacheDir: join(tmpdir(), 'conform-vite'), server: { watch: null }, logLevel: 'silent' },
  )
  const run = async (): Promise<void> => {
    try {
      const { testModules, unhandledErrors } = await vitest.start()
      problems.push(...unhandledErrors, ...testModules.flatMap((module) => module.errors()))
    } finally {
      await vitest.close()
      bridge.close()
    }
    if (problems.length > 0) throw new Error(messageOf(problems[0]))
  }
  return {
    done: run(),
    facts: () => facts,
    end: (cause, reason) => bridge.post({ kind: 'end', cause, reason }),
  }
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
