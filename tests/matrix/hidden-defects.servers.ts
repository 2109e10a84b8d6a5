import { describe, expect, test } from 'vitest'
import { defects } from '../../reference/server.ts'
import { ownId, redUnder } from './also-red.ts'
import { unexercised } from './unexercised.ts'
import { withoutCleanup } from './changed-targets.ts'
import { idsOf, judgeReference } from './judge-reference.ts'

/** Defects that another way to conform might hide, as it takes time until they can be seen; and what they can reach. */
const hidden: Readonly<Record<string, [meant: RegExp, only: string]>> = {
  'jobs/readable-late': [
    /^jobs\.create\/409-[a-z-]+$/,
    'jobs.create/202-* jobs.create/409-* jobs.create/4xx-* jobs.retrieve/200-* envelope/*',
  ],
  'processing/slow': [
    /^graphs\.add-file\/(2xx-accepted|409-already-in-graph)$/,
    'graphs.*/2* graphs.add-file/4*-* files.*/2* envelope/*',
  ],
}

/** Jobs outlast the time until they can be read, and the requests beside them. */
const pace = { jobMs: 15, slowJobMs: 1800 }

for (const [variant, [meant, only]] of Object.entries(hidden)) {
  describe(`caught under ${variant} too, and nothing else`, () => {
    for (const defect of defects.filter((name) => meant.test(name))) {
      test(defect, async () => {
        const reference = { ...pace, defects: [defect], variants: [variant] }
        const { results } = await judgeReference(reference, {
          change: withoutCleanup,
          options: { only: only.split(' ') },
        })
        const unseen = unexercised[variant] ?? []
        const isSeen = (id: string): boolean => id === ownId(defect) || !unseen.includes(id)
        const failed = idsOf(results, 'failed')
        expect(failed).toContain(ownId(defect))
        expect(failed.filter((id) => !redUnder(defect).filter(isSeen).includes(id))).toEqual([])
      })
    }
  })
}
