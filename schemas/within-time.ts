import { createContext, Script } from 'node:vm'

const call = new Script('work()')

/**
 * Does work that somebody else's regular expressions may make endless, and gives up after so many ms; undefined then. What runs
 * in a context of `node:vm` with a time limit is ended even within a regular expression.
 */
export function withinTime<T>(work: () => T, timeout: number): { readonly value: T } | undefined {
  let value: { readonly value: T } | undefined
  try {
    call.runInContext(createContext({ work: () => void (value = { value: work() }) }), { timeout })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
  }
  return value
}
