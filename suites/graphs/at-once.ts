import {
  type CheckContext,
  holdPlaces,
  isGranted,
  NotExercised,
  wasAnswered,
  type Judge,
} from '../../harness/engine/index.ts'
import { additions } from '../created/created-object.ts'
import { addFirst, addOnce, isConflict } from './addition.ts'
import { refused } from '../../harness/checks/index.ts'
import { onceAtOnce } from '../created/relations.ts'

/**
 * A refusal that comes within so many ms of the first answer says that additions are processed before they are answered. One
 * that took longer leaves room for a server that processes them a little later, which may grant several of one moment.
 */
const atOnceMs = 25

/** Tells how many ms after the first of two additions in a row was granted the second was refused; throws `NotExercised` if it was not. */
async function refusedAfterMs(context: CheckContext): Promise<number> {
  const { run } = context
  const probe = await additions.fresh(run)
  const first = await addFirst(context, probe)
  // Neither other requests nor the pace asked for come between the two.
  const second = await addOnce(context, refused(probe), (...sent) =>
    holdPlaces(run, 1, (sendHeld) => sendHeld(...sent)),
  )
  if (!first.response || !isGranted(first.response) || !isConflict(second))
    throw new NotExercised(`the second of two additions in a row ${wasAnswered(second)}`)
  return second.endedAt - first.endedAt
}

/**
 * Least and most looks at two additions in a row before anybody is accused: each may meet another replica, for itself behind, and
 * a busy machine may be late at some.
 */
const looksAtOnce = { least: 4, most: 5 }

/** Throws `NotExercised` unless the second of two in a row is refused so soon that additions are processed before they are answered. */
async function requireAtOnce(context: CheckContext): Promise<void> {
  let ms = Infinity
  for (
    let look = 1;
    look <= looksAtOnce.most && (ms > atOnceMs || look <= looksAtOnce.least);
    look++
  )
    ms = Math.min(ms, await refusedAfterMs(context))
  if (ms > atOnceMs)
    throw new NotExercised(
      `two of several additions at once were granted, and the second of two in a row was refused ${Math.ceil(ms)} ms after the first was granted: a server that processes additions for as long may answer so; run the suite closer to the target (at most ${atOnceMs} ms), or declare a scenario`,
    )
}

export const addedAtOnce: Judge = (context) =>
  onceAtOnce(context, { before: refusedAfterMs, accusing: requireAtOnce })
