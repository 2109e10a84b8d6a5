import type { Answer } from './answer.ts'
import { envelope, type Fault } from './envelope.ts'
import { neverGranted, otherName, otherStatus } from './switches/other-pairs.ts'
import type { Switches } from './switches/switches.ts'

/**
 * The answer to a request that requirement `id` wants refused. A switch named like the requirement answers as if
 * nothing were wrong; `#status` and `#tpe` refuse with another status, or another code name of the same status, `#granted-envelope` in words
 * alone, and `#dropped` closes the connection.
 */
export function refusal(switches: Switches, id: string, fault: Fault, grant: () => Answer): Answer {
  if (switches.broken(id)) return neverGranted.has(id) ? envelope({ ...fault, ...otherStatus(id, fault) }) : grant()
  if (switches.broken(`${id}#status`)) return envelope({ ...fault, ...otherStatus(id, fault), key: 'fail.other' })
  if (switches.broken(`${id}#tpe`)) return envelope({ ...fault, tpe: otherName(id, fault), key: 'fail.other' })
  if (switches.broken(`${id}#5xx`)) return envelope({ status: 500, tpe: 'InternalServerError' })
  if (switches.broken(`${id}#granted-envelope`)) return envelope({ ...fault, status: 200 })
  if (switches.broken(`${id}#dropped`)) return { status: 500, dropped: true }
  return envelope({ ...fault, ...switches.alternative(fault.at === undefined ? id : `${id}@${fault.at}`) })
}
