import { controlExchange, control, notGranted } from '../../harness/checks/control.ts'
import { judgeGranted } from '../../harness/engine/judge-response.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { type CheckContext, answered } from '../../harness/engine/check-context.ts'
import { mainLifecycle } from './lifecycle.ts'
import { faultlessCreations } from './every-job.ts'
import fc from 'fast-check'
import { grantedProbe, inScenario } from '../../harness/checks/granted.ts'
import { judgeThrottled } from '../../harness/checks/judge-throttled.ts'
import { property } from '../../harness/checks/property.ts'
import { jobRequest } from './job-request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { getAt } from '../../schemas/pointer.ts'
import { preview } from '../../schemas/preview.ts'

const valid = 'with a valid body'

/** Every creation of the run that should be granted gives 202 and the shape shown. */
export async function judgeCreated(context: CheckContext): Promise<void> {
  const { run } = context
  judgeCreation(context, await controlExchange(run, 'jobs.create'))
  for (const exchange of faultlessCreations(run)) {
    context.shownBy = exchange.purpose.requirement
    judgeCreation(context, exchange)
  }
}

function judgeCreation(context: CheckContext, exchange: Exchange): void {
  judgeGranted(context, exchange, '202 with the id, status and created_at of the new job', valid)
  judgeShape(context, exchange, 'created-job', valid)
}

/** One of the first readings of the new job finds it. */
export async function judgeRetrievable(context: CheckContext): Promise<void> {
  const { first } = await mainLifecycle(context.run)
  for (const { exchange } of first) {
    if (exchange.response?.status === 200) {
      context.cases++
      return
    }
  }
  const last = first.at(-1)
  if (!last) return
  const expected = `200: the id that the creation returned can be retrieved, at the latest ${context.run.target.limits.settleMs} ms later (limits.settleMs)`
  judgeGranted(context, last.exchange, expected, '')
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
    ' at both ends ',
  ],
  'long '.repeat(200),
]

const emptyText = 'empty @ /inputs/*/value/*'
const isEmpty = ([text, ...more]: readonly string[]): boolean => text === '' && more.length === 0

/** No text is answered by a 5xx: the awkward ones, and whatever is generated. */
export async function judgeAnyText(context: CheckContext): Promise<void> {
  const { run } = context
  const application = run.target.resources.application
  if (!application) throw new NotExercised('declare resources.application')
  const granted = await control(run, 'jobs.create')
  if (granted.state !== 'granted') throw notGranted(granted)
  context.control = granted.state
  const accept = async (...texts: readonly string[]): Promise<number> => {
    const inputs = application.inputs.map((input) => {
      const values = getAt(input, '/value')
      return { ...input, ...(Array.isArray(values) ? { value: texts } : {}) }
    })
    const exchange = await context.send(
      grantedProbe(context, 'jobs.create', async () => ({
        ...(await jobRequest(run, { ...application, inputs })),
        fault: isEmpty(texts) ? emptyText : undefined,
      })),
    )
    const settled = exchange.throttled
      ? await judgeThrottled(context, { source: exchange.probe, control: granted, last: exchange })
      : exchange
    answered(settled)
    context.cases++
    if (settled.response.status >= 500) {
      context.fail(
        settled,
        'any answer except a 5xx, whatever text the inputs hold',
        `with inputs that hold ${preview(texts)}`,
      )
    }
    return settled.response.status
  }
  if (run.target.scenarios[context.requirement.id]) {
    return inScenario(context, 'jobs.create', async () => void (await accept('text')))
  }
  // A refusal of one of them would hide what the others do.
  if ((await accept(...awkward)) >= 400) for (const text of awkward) await accept(text)
  if (run.options.depth === 'quick') return
  // By itself: many a server refuses it.
  await accept('')
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  await property(context, 'grantedRuns', text, async (value) => void (await accept(value)))
}
