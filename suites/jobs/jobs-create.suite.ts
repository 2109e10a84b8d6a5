import fc from 'fast-check'
import { control, controlExchange } from '../../harness/checks/control.ts'
import { unknown, changed, withBody } from '../../harness/checks/conditions.ts'
import { conflictRow, conflictSends } from './conflict-row.ts'
import { judgeThrottled } from '../../harness/checks/judge-throttled.ts'
import { judgeGranted } from '../../harness/checks/judge.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import { refusals, scenario } from '../../harness/checks/refusals.ts'
import { must, nothingMore, should } from '../../harness/checks/registry.ts'
import { missingBody } from '../../harness/checks/bodies.ts'
import { mainLifecycle, settlingLooks } from './lifecycle.ts'
import { grantedProbe, inScenario } from '../../harness/checks/granted.ts'
import { preview } from '../../schemas/preview.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { answered, type Story } from '../../harness/engine/story.ts'
import { jobRequest } from './request.ts'
import { property } from '../../harness/checks/property.ts'
import { getAt } from '../../schemas/pointer.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { otherCreations, seeAllStates } from './other-jobs.ts'
import { malformedInputs } from './malformed-inputs.ts'
import { withoutInput } from './required-inputs.ts'

// §4.2 Create application job

const valid = 'with a valid body'

must('jobs.create/202-created', judgeCreated, nothingMore)
must('jobs.create/202-retrievable', judgeRetrievable, () => settlingLooks)
should('jobs.create/202-any-text', judgeAnyText, ({ grantedRuns }) => grantedRuns + 1 + awkward.length)

async function judgeCreated(story: Story): Promise<void> {
  const { run } = story
  judgeCreation(story, await controlExchange(run, 'jobs.create'))
  await seeAllStates(run)
  for (const exchange of otherCreations(run)) {
    story.shownBy = exchange.purpose.requirement
    judgeCreation(story, exchange)
  }
}

function judgeCreation(story: Story, exchange: Exchange): void {
  judgeGranted(story, exchange, '202 with the id, status and created_at of the new job', valid, 202)
  judgeShape(story, exchange, 'created-job', valid)
}

async function judgeRetrievable(story: Story): Promise<void> {
  const { first } = await mainLifecycle(story.run)
  for (const { exchange } of first) {
    if (exchange.answer?.status === 200) return story.count()
  }
  const last = first.at(-1)
  if (!last) return
  const expected = '200: the id that the creation returned can be retrieved, at the latest 1 s later'
  judgeGranted(story, last.exchange, expected, '', 200)
}

/** Texts of the kinds that servers trip over. */
const awkward = [
  ...[
    '😀 🏳️‍🌈',
    'שלום مرحبا',
    '"quoted" and \\ back',
    '%s %20 {} ${x}',
    "<b>&amp;</b> '; --",
    'a\tb\nc',
    '\u0001\u007f',
    'a\u0000b',
  ],
  'long '.repeat(200),
]

async function judgeAnyText(story: Story): Promise<void> {
  const { run } = story
  const application = run.target.resources.application
  if (!application) throw new NotExercised('declare resources.application')
  const granted = await control(run, 'jobs.create')
  if (granted.state !== 'granted') throw new NotExercised(`the control was not granted: ${granted.said}`)
  story.control = granted.state
  const accept = async (...texts: readonly string[]): Promise<number> => {
    const inputs = application.inputs.map((input) => {
      const values = getAt(input, '/value')
      return { ...input, ...(Array.isArray(values) ? { value: texts } : {}) }
    })
    const exchange = await story.ask(
      grantedProbe(story, 'jobs.create', () => jobRequest(run, { ...application, inputs })),
    )
    const settled = exchange.throttled
      ? { ...(await judgeThrottled(story, exchange.probe, granted, exchange, {})), throttled: false }
      : exchange
    answered(settled)
    story.count()
    if (settled.answer.status >= 500) {
      story.fail(
        settled,
        'any answer but a 5xx, whatever text an input holds',
        `with inputs that hold ${preview(texts)}`,
      )
    }
    return settled.answer.status
  }
  if (run.target.scenarios[story.row.id]) {
    return inScenario(story, 'jobs.create', async () => void (await accept('text')))
  }
  // A refusal of one of them would hide what the others do.
  if ((await accept(...awkward)) >= 400) for (const text of awkward) await accept(text)
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  await property(text, { seed: run.options.seed, name: story.row.id, runs: run.options.grantedRuns }, async (value) => {
    await accept(value)
  })
}

// prettier-ignore
refusals('jobs.create', [
  { id: 'jobs.create/400-missing-body',            when: missingBody,             gives: [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType']] },
  { id: 'jobs.create/400-missing-inputs',          when: changed('with a body that has no inputs', (probe) => withBody(probe, {})), gives: [[400, 'InvalidInputParameters', 'BadRequest']] },
  { id: 'jobs.create/400-missing-required-inputs', when: withoutInput,            gives: [[400, 'InvalidInputParameters']] },
  { id: 'jobs.create/400-malformed-inputs',        when: malformedInputs,         gives: [[400, 'BadRequest']] },
  { id: 'jobs.create/403-application-access',      when: scenario,                gives: [[403, 'InsufficientAccessRights']] },
  { id: 'jobs.create/404-unknown-application',     when: unknown('application_id'), gives: [[404, 'ResourceNotFound']] },
])

must('jobs.create/409-job-in-progress', conflictRow('inProgress'), conflictSends.inProgress)
must('jobs.create/409-released', conflictRow('released'), conflictSends.released)
must('jobs.create/409-per-application', conflictRow('perApplication'), conflictSends.perApplication)
must('jobs.create/409-atomic', conflictRow('atomic'), conflictSends.atomic)
