import type { RequirementResult } from '../harness/report/model.ts'

/** Results that may be asked for before they are known. */
export interface Results {
  set(result: RequirementResult): void
  /** Everybody who waits gets the error, and everybody who asks from now on. */
  fail(error: unknown): void
  get(id: string): Promise<RequirementResult>
}

interface Waiting {
  readonly promise: Promise<RequirementResult>
  readonly resolve: (result: RequirementResult) => void
  readonly reject: (error: unknown) => void
}

export function createResults(): Results {
  const all = new Map<string, Waiting>()
  let failed: { readonly error: unknown } | undefined
  const of = (id: string): Waiting => {
    const known = all.get(id) ?? waiting()
    all.set(id, known)
    if (failed) known.reject(failed.error)
    return known
  }
  return {
    set: (result) => of(result.id).resolve(result),
    fail(error) {
      failed = { error }
      for (const one of all.values()) one.reject(error)
    },
    get: (id) => of(id).promise,
  }
}

function waiting(): Waiting {
  const settle: Partial<Pick<Waiting, 'resolve' | 'reject'>> = {}
  const promise = new Promise<RequirementResult>((resolve, reject) => Object.assign(settle, { resolve, reject }))
  // A result that no test waits for is no error of anybody's.
  promise.catch(() => undefined)
  return { promise, ...(settle as Pick<Waiting, 'resolve' | 'reject'>) }
}
