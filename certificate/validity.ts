import type { Predicate } from './statement.ts'

const DAY_MS = 86_400_000

/** Days for which a certificate is valid by default, and at most, both from the beginning of the run. */
export const VALID_DAYS = 180
export const MOST_VALID_DAYS = 400

/** What a certificate's time is counted by. */
export type Times = Pick<Predicate, 'issuedAt'> & { readonly run: { readonly startedAt: string } }

/** Epoch ms, that many days after the run began; a run that claims to begin later than the signing counts from the signing. */
export function daysAfterRun({ issuedAt, run }: Times, days: number): number {
  return Math.min(Date.parse(run.startedAt), Date.parse(issuedAt)) + days * DAY_MS
}

/** Epoch ms at which such a certificate is over at the latest. */
export function lastDay(times: Times): number {
  return daysAfterRun(times, MOST_VALID_DAYS)
}
