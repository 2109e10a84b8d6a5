import type { Answer } from './answer.ts'
import { envelope, type Fault } from './envelope.ts'
import { lostAnswer } from './lost-answer.ts'
import { neverGranted, otherName, otherStatus } from '../switches/other-pairs.ts'
import type { World } from './world.ts'

/** Refusals that come late under `slow/refusals`: something was asked that takes its time to say no. */
const takeTime: ReadonlySet<string> = new Set([
  ...['completion.create/400-empty-prompt', 'translate.run/400-unsupported-language'],
  ...['jobs.create/404-unknown-application', 'files.retrieve/404-unknown-file'],
])

/**
 * The answer to a request that requirement `id` wants refused. A switch named like the requirement answers as if
 * nothing were wrong; `#status` and `#tpe` refuse with another status, or another code name of the same status,
 * `#granted-envelope` in words alone; `#spoils-connection` refuses rightly, and the next request of that connection wrongly.
 */
export function refusal({ switches, pace }: World, id: string, fault: Fault, grant: () => Answer): Answer {
  if (switches.broken(id)) return neverGranted.has(id) ? envelope({ ...fault, ...otherStatus(id, fault) }) : grant()
  if (switches.broken(`${id}#status`)) return envelope({ ...fault, ...otherStatus(id, fault), key: 'fail.other' })
  if (switches.broken(`${id}#tpe`)) return envelope({ ...fault, tpe: otherName(id, fault), key: 'fail.other' })
  if (switches.broken(`${id}#5xx`)) return envelope({ status: 500, tpe: 'InternalServerError' })
  if (switches.broken(`${id}#granted-envelope`)) return envelope({ ...fault, status: 200 })
  const lost = lostAnswer(switches, id)
  if (lost) return lost
  const answer = envelope({ ...fault, ...switches.alternative(fault.at === undefined ? id : `${id}@${fault.at}`) })
  if (switches.broken(`${id}#spoils-connection`)) return { ...answer, spoils: true }
  return switches.varied('slow/refusals') && takeTime.has(id) ? { ...answer, afterMs: pace.slowRefusal } : answer
}
