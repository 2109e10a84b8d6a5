/** The suites as tests of somebody's own vitest project. */
// TypeScript adds to a module only if the module is imported too.
import 'vitest'
import type { Handover } from './suite-run.ts'
import type { Target, TargetJson } from '../library/options.ts'

export { describeConformance, type DescribeOptions } from './describe-conformance.ts'
export type { GivenTarget } from './suite-run.ts'
export type { Handover } from './suite-run.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The target of `describeConformance()`: an object, or the path of a target file. */
    conformTarget: Target | TargetJson | string | undefined
    /** Folder that gets the exchanges of each run; provided by the reporter if a report needs them. */
    conformExchanges: string | undefined
  }
  interface TaskMeta {
    /** Reports of the runs of a test file. */
    conformance?: Handover[]
  }
}
