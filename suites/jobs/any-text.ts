import {
  anyText,
  characters,
  grantedControl,
  grantedProbe,
  inScenario,
  plainer,
  property,
  whyNotOfInput,
  samples,
} from '../../harness/checks/index.ts'
import { type Exchange, isGranted, NotExercised } from '../../harness/engine/index.ts'
import { answered, type CheckContext } from '../../harness/run/index.ts'
import { getAt, preview } from '../../schemas/json.ts'
import { jobRequest } from './client.ts'

/** Texts that servers often fail on. */
const awkward = [
  ...[
    '😀 🏳️‍🌈',
    'שלום مرحبا',
    '"quoted" and \\ back',
    '%s %20 {} ${x} {{y}}',
    "<b>&amp;</b> '; --",
    'a\tb\nc',
    '\u0001\u007f',
    'a\u0000b',
    ' at both ends ',
    'two\r\nlines\u2028and more',
    '1234567890',
    '__proto__',
    `tea${plainer}`,
    `tea${characters}`,
  ],
  'long '.repeat(400),
]

const manyTexts = 120

const emptyText = 'empty @ /inputs/*/value/*'
const isEmpty = ([text, ...more]: readonly string[]): boolean => text === '' && more.length === 0

export async function takesAnyText(context: CheckContext): Promise<void> {
  const { run } = context
  const application = run.target.resources.application
  if (!application) throw new NotExercised('declare resources.application')
  const granted = await grantedControl(run, 'jobs.create')
  context.control = granted.state
  const ask = async (texts: readonly string[]): Promise<Exchange> => {
    const inputs = application.inputs.map((input) => {
      const values = getAt(input, '/value')
      return { ...input, ...(Array.isArray(values) ? { value: texts } : {}) }
    })
    const make = grantedProbe(context, 'jobs.create', async () => ({
      ...(await jobRequest(run, { ...application, inputs })),
      fault: isEmpty(texts) ? emptyText : undefined,
    }))
    // Of the right type, but a crash on it is a crash on user input.
    const purpose = { badInput: true }
    const settled = await context.send(make, purpose)
    answered(settled)
    context.cases++
    return settled
  }
  const judge = async (exchange: Exchange, texts: readonly string[]): Promise<void> => {
    if ((exchange.response?.status ?? 0) < 500) return
    const why = await whyNotOfInput(run, exchange)
    if (why !== undefined) throw new NotExercised(why)
    const expected = 'any answer except a 5xx, whatever the inputs contain'
    context.fail(exchange, expected, `with the inputs ${preview(texts)}`)
  }
  const accept = async (...texts: readonly string[]): Promise<void> =>
    judge(await ask(texts), texts)
  /** Sends all in one request. A refusal of one hides the others: then each goes alone. */
  const acceptAll = async (
    texts: readonly string[],
    acceptEach: () => Promise<void>,
  ): Promise<void> => {
    const together = await ask(texts)
    if (together.response && isGranted(together.response)) return
    await acceptEach()
    await judge(together, texts)
  }
  if (context.scenario) return inScenario(context, 'jobs.create', () => accept('text'))
  await acceptAll(awkward, async () => {
    for (const text of awkward) await accept(text)
  })
  if (run.options.depth === 'quick') return
  // Alone, since many servers refuse it.
  await accept('')
  await accept(...Array.from({ length: manyTexts }, (_, at) => `text ${at}`))
  const text = anyText(40)
  const texts = samples(context, 'grantedRuns', text)
  await acceptAll(texts, () => property(context, 'grantedRuns', text, accept))
}
