import { describe, test } from 'vitest'
import { needsSocket } from '../../reference/server.ts'
import { expectConforming, onSockets } from './allowed-differences.ts'
import { expectListed, reachOf, switches } from './kill-matrix.ts'

// What shows on a socket alone takes real time, and is waited for together. No test here is in virtual time: the clock is the
// whole process's.

/** ms; whole runs share this process, and a busy machine may give it a fiftieth of a core. Only a run that hangs meets it. */
const timeout = 900_000

// `engine/reused-connection` judges what spoils a connection, one request at a time.
const broken = switches.filter(
  (defect) => needsSocket(defect) && !defect.endsWith('#spoils-connection'),
)

describe.concurrent('a connection', { timeout }, () => {
  test.each(onSockets.map((group) => [group[0], group] as const))(
    'that is allowed fails nothing: %s and what shares its server',
    (_, group) => expectConforming(group, 'quick'),
  )
  test.each(broken)('under %s fails its requirement, and nothing else', (defect) =>
    expectListed(defect, { only: reachOf(defect) }),
  )
})
