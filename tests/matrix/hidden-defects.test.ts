import { describe, expect, test } from 'vitest'
import { defects } from '../../reference/server.ts'
import { redUnder } from './also-red.ts'
import { withoutCleanup } from './changed-targets.ts'
import { idsOf, judgeReference } from './judge-reference.ts'

/** Defects that another way to conform might hide, where it takes time until the defect can be seen. */
const hidden: Readonly<Record<string, (defect: string) => boolean>> = {
  'jobs/readable-late': (defect) => defect.startsWith('jobs.create/409-'),
  'processing/slow': (defect) => /^graphs\.add-file\/(2xx-accepted|409-already-in-graph)/.test(defect),
}

/** Jobs outlast the time until they can be read, and the requests beside them, on a busy machine too. */
const pace = { jobMs: 15, slowJobMs: 1800 }

for (const [variant, isMeant] of Object.entries(hidden)) {
  describe.concurrent(`caught under ${variant} too, and nothing else`, { timeout: 120_000 }, () => {
    for (const defect of defects.filter(isMeant)) {
      test(defect, async () => {
        const reference = { ...pace, defects: [defect], variants: [variant] }
        const { results } = await judgeReference(reference, { change: withoutCleanup })
        expect(new Set(idsOf(results, 'failed'))).toEqual(new Set(redUnder(defect)))
      })
    }
  })
}
