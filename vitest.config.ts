import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Order of test files: what computes longest goes first, while the heap of a worker is small, and so that no worker is left with it alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = /tests\/(?:docs|vitest|reporters\/html|engine|layout|openapi|cli|check)/
    const programs = /tests\/(?:docs|vitest\/front|library|reporters)\S*\.program/
    const first = [programs, 'tests/matrix/kill-matrix', 'tests/matrix/', 'tests/hostile/', others]
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = first.findIndex((place) => moduleId.search(place) >= 0)
      return at < 0 ? first.length : at
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

const ofOurs = {
  globalSetup: ['tests/build.ts'],
  pool: 'forks' as const,
  // One more than cores: what looks at sockets, pages and processes waits for them much of its time.
  maxWorkers: 3,
  // Tests that say they are concurrent wait for deadlines most of the time.
  maxConcurrency: 12,
  // No file mocks a module or keeps state in one: each module is loaded once a worker, not once a file.
  isolate: false,
  // These end what hangs, and decide nothing else: the slowest test takes 25 s by itself on an idle machine (the pages of docs/).
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // What is looked for again and again is there within a second.
  expect: { poll: { timeout: 60_000 } },
  env: { TZ: 'UTC', NO_COLOR: '1' },
}

/**
 * `tests` looks at ourselves, and so do `programs`, as whole programs, `servers`, by hundreds of servers to judge, and
 * `exhaustive`, for an hour; `conformance` looks at a target, as in anybody's project.
 */
export default defineConfig({
  test: {
    allowOnly: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: { ...ofOurs, name: 'tests', include: ['tests/**/*.test.ts'] },
        // Nothing is written into the tree, and two runs on one machine do not meet.
        cacheDir: undefined,
      },
      { test: { name: 'conformance', include: ['library/vitest/*.suite.ts'] } },
      {
        test: { ...ofOurs, name: 'programs', include: ['tests/**/*.program.ts'] },
        cacheDir: undefined,
      },
      {
        test: { ...ofOurs, name: 'servers', include: ['tests/**/*.servers.ts'] },
        cacheDir: undefined,
      },
      {
        test: { ...ofOurs, name: 'field', include: ['tests/field/*.field.ts'] },
        cacheDir: undefined,
      },
      {
        test: { ...ofOurs, name: 'exhaustive', include: ['tests/**/*.exhaustive.ts'] },
        cacheDir: undefined,
      },
    ],
  },
})
