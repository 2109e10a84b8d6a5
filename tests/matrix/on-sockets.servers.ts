import { describe, test } from 'vitest'
import { expectConforming, onSockets } from './allowed-differences.ts'
import { expectListed } from './kill-matrix.ts'
import { type BrokenServer, serversOnSockets } from './servers.ts'

// What shows on a socket alone takes real time, and is waited for together. No test here is in virtual time: the clock is the
// whole process's.

/** ms; six whole runs share this process, and a busy machine may give it a fiftieth of a core. Only a run that hangs meets it. */
const timeout = 900_000

const spoils = ({ defects }: BrokenServer): boolean =>
  defects.some((defect) => defect.endsWith('#spoils-connection'))

describe.concurrent(
  'a conforming server fails nothing, and exercises all but what is listed, under',
  { timeout },
  () => {
    test.each(onSockets.map((group) => [group[0], group] as const))(
      '%s and what shares its server',
      (_, group) => expectConforming(group, 'quick'),
    )
  },
)

// One at a time: which request meets the connection that another one spoiled must not be a matter of how busy the process
// is. Standing between the others, they keep them from being nine at once.
describe('one that spoils connections turns exactly the listed requirements red', () => {
  test.each(serversOnSockets.filter(spoils))('$name', expectListed)
})

describe.concurrent(
  'another broken one turns exactly the listed requirements red',
  { timeout },
  () => {
    test.each(serversOnSockets.filter((server) => !spoils(server)))('$name', expectListed)
  },
)
