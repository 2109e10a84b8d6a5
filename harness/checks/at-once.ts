/** Cases of one requirement that are under way at once: a long list would otherwise be the longest road of a run. */
export const mostAtOnce = 5

/**
 * Judges each case, several at once; what the first of them in their order throws (a failure, or that it cannot be judged) is
 * thrown once those that were begun have ended, and no further one is begun.
 */
export async function judgeEach<T>(cases: readonly T[], judge: (value: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < cases.length; at += mostAtOnce) {
    const judged = await Promise.allSettled(cases.slice(at, at + mostAtOnce).map(judge))
    const failed = judged.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
  }
}
