import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { credentialControl } from './credential-control.ts'
import { type Control, control } from './control.ts'
import { probeOf, type Source } from '../engine/ask.ts'
import type { Exchange, Purpose } from '../engine/exchange.ts'
import type { Pairs } from '../engine/pairs.ts'
import type { Probe } from '../engine/probe.ts'
import { NotExercised } from '../engine/outcome.ts'
import { judgeScenario } from './judge-scenario.ts'
import { describeAnswer } from '../engine/describe.ts'
import { judgePairs } from './judge.ts'
import { judgeThrottled } from './judge-throttled.ts'
import { requirement, type SendCount } from './registry.ts'
import type { Story } from '../engine/story.ts'

/** What a condition hands its probes to: sends one and judges the answer. */
export interface Probing {
  readonly story: Story
  readonly operation: OperationId
  /** The operation's valid request, fresh each time. */
  valid(): Promise<Probe>
  /** @param what the one fault, in words that follow the request line: `with a valid body, but …` */
  judge(source: Source, what: string, gives?: Pairs): Promise<void>
  /** Judges an answer that has come already. */
  judgeAnswer(exchange: Exchange, what: string): void
}

/** Brings a condition about and hands each probe to the judge. */
export interface Condition {
  (probing: Probing): Promise<void>
  /** Most probes that it makes; one where it does not say. */
  readonly sends?: SendCount
}

/** A condition that says how many probes it makes. */
export function counted(sends: SendCount, condition: (probing: Probing) => Promise<void>): Condition {
  return Object.assign(condition, { sends })
}

/** A scenario alone can cause it: nothing that a client sends by itself does. */
export const scenario: Condition = async () => {
  throw new NotExercised('only a scenario of the target file can cause this')
}

export interface Refusal {
  readonly id: RequirementId
  readonly when: Condition
  readonly gives: Pairs
  /** `credentials`: the control is the very same request with the full key. */
  readonly fault?: 'credentials'
  /** More that is sent with it. */
  readonly purpose?: Partial<Purpose>
}

/** A table of refusals of one operation: each a valid request with exactly one fault, and the pairs that answer it. */
export function refusals(operation: OperationId, rows: readonly Refusal[]): void {
  for (const row of rows) requirement(row.id, (story) => judgeRefusal(story, operation, row), row.when.sends)
}

async function judgeRefusal(story: Story, operation: OperationId, row: Refusal): Promise<void> {
  const declared = story.run.target.scenarios[row.id]
  if (declared) return judgeScenario(story, declared, operation, row.gives)
  const found = await (row.fault === 'credentials' ? credentialControl : control)(story.run, operation)
  takeControl(story, found, row.fault === 'credentials')
  const probing: Probing = {
    story,
    operation,
    valid: () => found.valid(),
    judgeAnswer: (exchange, what) => judgeCase(story, exchange, row.gives, what, found, row.fault === 'credentials'),
    async judge(source, what, gives = row.gives) {
      // One probe for all tries of one case; a creation among them makes a fresh one each time.
      const first = await probeOf(source)
      const again = first.effect === 'none' ? first : source
      const purpose = { badInput: true, expects: gives, ...row.purpose }
      const exchange = await story.ask(again, purpose)
      const settled = exchange.throttled ? await judgeThrottled(story, again, found, exchange, purpose) : exchange
      judgeCase(story, settled, gives, what, found, row.fault === 'credentials')
    },
  }
  await row.when(probing)
}

/** Sets the story's control; throws where its answer leaves the refusal without one. */
function takeControl(story: Story, found: Control, credentials: boolean): void {
  if (found.state === 'none') return
  story.control = found.state
  if (found.state === 'granted') return
  const status = found.exchange?.answer?.status
  const barred = status === 401 || status === 403
  if (credentials && status !== undefined && !barred && !found.exchange?.throttled) return
  throw new NotExercised(`the control was not granted: ${found.said}`)
}

/** A fault of credentials hides behind any other refusal where the control was not granted: then nothing was seen. */
function judgeCase(
  story: Story,
  exchange: Exchange,
  gives: Pairs,
  what: string,
  found: Control,
  credentials: boolean,
): void {
  const status = exchange.answer?.status ?? 0
  const telling = (status >= 200 && status < 300) || status === 401 || status === 403
  if (credentials && found.state !== 'granted' && !telling) {
    throw new NotExercised(
      `answered ${describeAnswer(exchange)}, and the control ${found.said}: declare a request that is granted`,
    )
  }
  judgePairs(story, exchange, gives, what)
}
