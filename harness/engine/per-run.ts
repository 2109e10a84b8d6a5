import type { Run } from './run.ts'

/** State that a suite keeps for each run: made when it is first asked for, gone with the run. */
export function perRun<T>(make: (run: Run) => T): (run: Run) => T {
  const states = new WeakMap<Run, { readonly state: T }>()
  return (run) => {
    const known = states.get(run) ?? { state: make(run) }
    states.set(run, known)
    return known.state
  }
}
