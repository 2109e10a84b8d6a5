import type { Limits } from './target-file.ts'

/** What holds if a target file does not say otherwise. */
export const defaultLimits: Limits = {
  concurrency: 8,
  requestsPerSecond: 0,
  timeoutMs: 60_000,
  jobTimeoutMs: 60_000,
  settleMs: 5000,
  maxAnswerBytes: 8_388_608,
  maxGenerations: 200,
  credentialProbes: 'all',
}
