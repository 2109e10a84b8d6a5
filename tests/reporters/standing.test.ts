import { absentReason, leftOut, unreachableReason } from '../../harness/report/reason.ts'
import { expect, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { renderBadge } from '../../reporters/badge.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { standingOf, verdictSentence } from '../../reporters/view/standing.ts'
import { failed, missed, notApplicable, report, result } from '../gates/results.ts'
import { inHtml } from './shown.ts'

const done = result('a.b/1')
const baseline = { file: 'b.json', expected: ['a.b/2'], stale: [], notExercised: [] }
const stale = { ...baseline, expected: [], stale: [{ id: 'a.b/1', why: 'it passed' }] }

const cases: [name: string, of: Report, tone: string, sentence: string][] = [
  ['conformant', report([done]), 'good', 'Conformant: 1 required check passed'],
  [
    'not all was tested',
    report([done, missed('a.b/2'), missed('a.b/3')]),
    'warning',
    'Incomplete: 1 required check passed, 2 not tested',
  ],
  [
    'an option left most out',
    report([done, missed('a.b/2', leftOut('--only'))], { only: ['a.b/1'] }),
    'warning',
    'Incomplete: 1 required check passed',
  ],
  [
    'interrupted',
    report([done, missed('a.b/2', leftOut('interrupted'))], { interrupted: true }),
    'warning',
    'Incomplete: 1 required check passed, 1 not tested',
  ],
  [
    'it had to be exercised',
    report([done, missed('a.b/2')], {}, { requireExercised: true }),
    'bad',
    'Incomplete: 1 required check passed, 1 not tested',
  ],
  [
    'some is excused, some not served',
    report([
      done,
      notApplicable('completion.create/500-model-overload', unreachableReason('no switch')),
      notApplicable('vision.analyze/2xx-accepted', absentReason('not-served')),
    ]),
    'good',
    'Conformant: 1 required check passed, 1 excused (unreachable), 1 operation not served',
  ],
  [
    'some is excused, and not all was tested',
    report([
      done,
      missed('a.b/2'),
      notApplicable('completion.create/500-model-overload', unreachableReason('no switch')),
    ]),
    'warning',
    'Incomplete: 1 required check passed, 1 not tested, 1 excused (unreachable)',
  ],
  [
    'failed',
    report([done, failed('a.b/2')]),
    'bad',
    'Non-conformant: 1 required check failed, 1 passed',
  ],
  [
    'failed as the baseline expects',
    report([done, failed('a.b/2')], { baseline }),
    'warning',
    'Non-conformant, as expected: 1 required check failed, 1 passed',
  ],
  [
    'a stale baseline',
    report([done], { baseline: stale }),
    'warning',
    'Conformant, but the run failed: 1 required check passed',
  ],
  [
    'quick',
    report([done], { depth: 'quick' }),
    'warning',
    'Conformant (quick): 1 required check passed',
  ],
  [
    'nothing known',
    report([missed('a.b/1')]),
    'warning',
    'Not judged: the target could not be judged (declare resources.application)',
  ],
]

const lime = /#4b0\b/

test.each(cases)('%s: every front has the same tone', async (_, of, tone, sentence) => {
  expect(standingOf(of).tone).toBe(tone)
  expect(verdictSentence(of)).toBe(sentence)
  expect(/^## (\S+) /.exec(renderMarkdown(of))?.[1]).toBe(
    { good: '✅', warning: '⚠️', bad: '❌' }[tone],
  )
  expect(/<div class="verdict (\w)">/.exec(await inHtml(of))?.[1]).toBe(
    { good: 'p', warning: 'm', bad: 'f' }[tone],
  )
  expect(lime.test(renderBadge(of))).toBe(tone === 'good')
})
