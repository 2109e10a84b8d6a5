import { anyText } from '../checks/faults.ts'
import fc from 'fast-check'
import {
  allOf,
  answerRule,
  type CaseRule,
  type CaseVerdict,
  generatedBy,
  judgeSome,
  requestFor,
} from '../checks/rules.ts'
import { seedFor, grantedControl, whyNotOfInput } from '../checks/valid-request.ts'
import { characters, plainer } from '../checks/bad-input.ts'
import { grantedProbe, inScenario } from '../checks/granted.ts'
import { NotExercised, type Journal, type Ask, type Verdict } from '../../harness/journal/index.ts'
import { type CheckContext, settle } from '../../harness/run/index.ts'
import { preview } from '../../schemas/json.ts'
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

type Texts = readonly string[]

export async function takesAnyText(context: CheckContext): Promise<Verdict> {
  const { client, given, requirement } = context
  const { options, target } = given
  const application = target.resources.application
  if (!application) throw new NotExercised('declare resources.application')
  const granted = await grantedControl(client, given, 'jobs.create')
  context.control = granted.state
  const requestOf = (texts: Texts): Ask => {
    const inputs = application.inputs.map((input) => ({ ...input, value: texts }))
    const source = grantedProbe(context, 'jobs.create', async () => ({
      ...(await jobRequest(given, { ...application, inputs })),
      fault: isEmpty(texts) ? emptyText : undefined,
    }))
    // Of the right type, but a crash on it is a crash on user input.
    return requestFor(context, JSON.stringify(texts), source, { badInput: true })
  }
  const ruleOf = (texts: Texts): CaseRule => ({
    judge: answerRule(context, requestOf(texts), (exchange) => {
      const { status } = exchange.response!
      if (status < 500) return { outcome: 'held', cases: 1, isGranted: status < 300 }
      const expected = 'any answer except a 5xx, whatever the inputs contain'
      const what = `with the inputs ${preview(texts)}`
      return { outcome: 'broken', evidence: { exchange, what, expected } }
    }),
  })
  /** Sends all texts in one request. If the server refuses it, sends each alone: one refused text hides the others. */
  const all = (texts: Texts, each: (journal: Journal) => readonly CaseVerdict[]) => {
    const whole = ruleOf(texts)
    return allOf([], {
      generated(journal) {
        const together = whole.judge(journal)
        const { outcome } = together
        const isEnough = outcome === 'held' ? together.isGranted : outcome !== 'broken'
        if (isEnough) return [together]
        const alone = each(journal)
        return alone.every((one) => one.outcome === 'held') ? [...alone, together] : alone
      },
    })
  }
  if (context.scenario)
    return inScenario(context, 'jobs.create', () => settle(client, allOf([ruleOf(['text'])])))
  const rulesOf = (texts: Texts): CaseRule[] => texts.map((text) => ruleOf([text]))
  const alone = rulesOf(awkward)
  const rules = [all(awkward, (journal) => judgeSome(alone, journal, 1))]
  if (options.depth === 'full') {
    const many = Array.from({ length: manyTexts }, (_, at) => `text ${at}`)
    const search = {
      arbitrary: anyText(40),
      ...{ seed: seedFor(given, requirement.id), numRuns: options.grantedRuns },
      ruleOf: (text: string) => ruleOf([text]),
    }
    const drawn = fc.sample(search.arbitrary, search)
    // The empty text goes alone, since many servers refuse it.
    rules.push(
      allOf([ruleOf(['']), ruleOf(many)], { inOrder: true }),
      all(drawn, generatedBy(search)),
    )
  }
  let cases = 0
  for (const rule of rules) {
    const verdict = await settle(client, rule)
    cases += verdict.cases ?? 0
    const [crash] = verdict.outcome === 'broken' ? verdict.evidence : []
    const why = crash && (await whyNotOfInput(client, given, crash.exchange))
    if (why !== undefined) return { outcome: 'open', cases, why }
    if (verdict.outcome !== 'held') return verdict
  }
  return { outcome: 'held', cases }
}
