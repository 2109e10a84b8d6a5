import { describe, expect, test } from 'vitest'
import { defects } from '../../reference/server.ts'
import { difference, judgeBroken } from './kill-matrix.ts'
import { brokenServer } from './servers.ts'

describe('by itself, each switch turns exactly the listed requirements red', () => {
  test.each(defects)('%s', async (defect) => {
    const server = brokenServer([defect])
    expect(difference(server, await judgeBroken(server))).toBe('')
  })
})
