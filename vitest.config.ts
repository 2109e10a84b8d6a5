import { defineConfig } from 'vitest/config'

/** The suite's own tests. What looks at a target (`*.suite.ts`) runs in `conform` only. */
export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // No file mocks a module or keeps state in one: each module is loaded once a worker, not once a file.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    allowOnly: false,
    // Nothing is written into the tree, and two runs on one machine do not meet.
    cache: false,
    env: { TZ: 'UTC', NO_COLOR: '1' },
  },
})
