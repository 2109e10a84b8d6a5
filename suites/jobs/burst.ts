import { type Conflict, readSettled, showsInProgress } from './conflict.ts'
import type { Job } from './model.ts'
import { sameId } from './seen-jobs.ts'

/** How many creations start together. */
export const burstSize = { full: 6, quick: 2 }

const requirement = 'jobs.create/409-atomic'

/** Of two granted jobs, one reading of the second as in progress between two of the first. */
export async function proveOverlap({ run, found }: Conflict, first: Job, second: Job): Promise<void> {
  const finding = found.atomic
  if (sameId(first.id, second.id)) {
    finding.inconclusive = `two concurrent creations gave the same id, ${first.id}: no reading tells them apart`
    return
  }
  const shown: boolean[] = []
  for (const job of [first, second, first]) shown.push(showsInProgress(await readSettled(run, job, requirement), job))
  if (shown.includes(false)) {
    finding.inconclusive = 'two concurrent creations were granted, but the jobs ended before they could be read'
    return
  }
  finding.failure = {
    exchange: second.creation,
    expected: '409 BadRequest for all but one of several concurrent creations',
    what: `with a valid body, at the same time as others; jobs ${first.id} and ${second.id} were then both read as in progress`,
  }
}
