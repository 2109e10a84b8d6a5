import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Runs the longest computations first, while worker heaps are small, so that none is left for the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = /tests\/(?:docs|vitest|reporters\/html|engine|layout|openapi|cli|check)/
    const programs = /tests\/(?:docs|vitest\/front|library|reporters)\S*\.program/
    const first = [
      programs,
      'tests/matrix/every-case',
      'tests/matrix/kill-matrix',
      'tests/matrix/',
      'tests/hostile/',
      others,
    ]
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = first.findIndex((place) => moduleId.search(place) >= 0)
      return at < 0 ? first.length : at
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

const ofOurs = {
  pool: 'forks' as const,
  // One more than cores: tests of sockets, pages and processes mostly wait.
  maxWorkers: 3,
  // Concurrent tests mostly wait for deadlines.
  maxConcurrency: 12,
  // No file mocks a module or keeps state in one, so each module is loaded once per worker.
  isolate: false,
  // Only ends hanging tests: the slowest takes 25 s on an idle machine (the pages of docs/).
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Normally within a second.
  expect: { poll: { timeout: 60_000 } },
  env: { TZ: 'UTC', NO_COLOR: '1' },
}

/** Kinds of our own tests, chosen by `--mode`; the default ones check units. */
const kinds = ['program', 'servers', 'exhaustive']

/**
 * `tests` checks ourselves: with `--mode program` whole programs, with `servers` hundreds of servers, with `exhaustive`
 * every pair (an hour). `conformance` judges a target, as in any project.
 */
export default defineConfig(({ mode }) => {
  const isUnit = !kinds.includes(mode)
  return {
    test: {
      allowOnly: false,
      // With `-t`, a failure is not listed among all the tests that were left out.
      hideSkippedTests: true,
      sequence: { sequencer: LongestFirst },
      projects: [
        {
          test: {
            ...ofOurs,
            name: 'tests',
            include: [`tests/**/*.${isUnit ? 'test' : mode}.ts`],
            // What is run as users run it is compiled first.
            globalSetup: [isUnit ? 'tests/derived.js' : 'tests/build.ts'],
          },
          // Nothing is written into the tree, and concurrent runs do not interfere.
          cacheDir: undefined,
        },
        { test: { name: 'conformance', include: ['library/vitest/*.suite.ts'] } },
      ],
    },
  }
})
