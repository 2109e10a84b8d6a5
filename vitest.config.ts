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

/** What is run as users run it is compiled first. */
const ofPrograms = { ...ofOurs, globalSetup: ['tests/build.ts'] }

/**
 * `tests` checks ourselves; so do `programs` (whole programs), `servers` (hundreds of servers) and `exhaustive` (an
 * hour). `conformance` judges a target, as in any project.
 */
export default defineConfig({
  test: {
    allowOnly: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...ofOurs,
          globalSetup: ['tests/derived.js'],
          name: 'tests',
          include: ['tests/**/*.test.ts'],
        },
        // Nothing is written into the tree, and concurrent runs do not interfere.
        cacheDir: undefined,
      },
      { test: { name: 'conformance', include: ['library/vitest/*.suite.ts'] } },
      {
        test: { ...ofPrograms, name: 'programs', include: ['tests/**/*.program.ts'] },
        cacheDir: undefined,
      },
      {
        test: { ...ofPrograms, name: 'servers', include: ['tests/**/*.servers.ts'] },
        cacheDir: undefined,
      },
      {
        test: { ...ofPrograms, name: 'exhaustive', include: ['tests/**/*.exhaustive.ts'] },
        cacheDir: undefined,
      },
    ],
  },
})
