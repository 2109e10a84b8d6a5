const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls when the signal aborts, until the returned function is called. One listener of the signal serves all: a run has one
 * signal, and a signal goes through the list of its listeners for each one that it takes or lets go.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  let calls = waiting.get(signal)
  if (calls === undefined) {
    const all = (calls = new Set())
    waiting.set(signal, all)
    signal.addEventListener('abort', () => all.forEach((each) => each()), { once: true })
  }
  calls.add(call)
  return () => calls.delete(call)
}
