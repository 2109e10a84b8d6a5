import { pairsByScenario } from '../../catalogue/answers.ts'
import { type Control, control } from './control.ts'
import type { Exchange, Purpose } from '../engine/exchange.ts'
import type { Probe } from '../engine/probe.ts'
import { plainRequest } from './valid-request.ts'
import { NotExercised } from '../engine/outcome.ts'
import type { Scenario } from '../target/model.ts'
import { judgePairs } from './judge.ts'
import { judgeThrottled } from './judge-throttled.ts'
import type { Judge, Story } from '../engine/story.ts'
import { applyScenario, bringsBody, isDeclared } from './apply-scenario.ts'
import { around, enterState, leaveState } from './around.ts'
import { sendRepeatedly } from './repeat.ts'

const what = 'as the scenario of the target file says'

/** Looks at a judged answer once more: what the pairs do not say. */
export type Further = (story: Story, exchange: Exchange) => void

/** Judges a refusal that a scenario of the target file brings about, by what the row gives. */
export async function judgeScenario(story: Story, scenario: Scenario, further?: Further): Promise<void> {
  const { run, row } = story
  const { operation } = scenario
  const gives = pairsByScenario(row, operation)
  const purpose: Partial<Purpose> = { expects: gives }
  const make = (): Promise<Probe> => scenarioProbe(story, scenario)
  const judge = (exchange: Exchange): void => {
    judgePairs(story, exchange, gives, what)
    further?.(story, exchange)
  }
  const undeclared = bringsBody(scenario) && !isDeclared(run, operation)
  const none: Control = { state: 'none', said: 'not sent: the operation is not declared', valid: make }
  const found = undeclared ? none : await control(run, operation)
  if (found.state === 'refused') throw new NotExercised(`the control was not granted: ${found.said}`)
  story.control = found.state
  const state = { enter: () => enterState(story, scenario), leave: () => leaveState(story, scenario) }
  await around(story, scenario, operation, async () => {
    if (scenario.repeat !== undefined)
      return judge(await sendRepeatedly(story, { make, most: scenario.repeat, control: found, gives }))
    const exchange = await story.send(make, purpose)
    judge(
      exchange.throttled
        ? await judgeThrottled(story, { source: make, control: found, last: exchange, purpose, state })
        : exchange,
    )
  })
}

/** The scenario's request, fresh each time; what it is expected to be refused has no effect. */
async function scenarioProbe(story: Story, scenario: Scenario): Promise<Probe> {
  const { operation } = scenario
  const probe = await applyScenario(story.run, scenario, operation, () => plainRequest(story.run, operation))
  return { ...probe, effect: 'none' }
}

/** How a refusal is judged that only a scenario of the target file can bring about. */
export function byScenario(further?: Further): Judge {
  return async (story) => {
    const scenario = story.run.target.scenarios[story.row.id]
    if (!scenario) throw new NotExercised(`declare a scenario for ${story.row.id}`)
    await judgeScenario(story, scenario, further)
  }
}
