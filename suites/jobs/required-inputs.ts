import { getAt } from '../../schemas/pointer.ts'
import { withBody } from '../../harness/checks/conditions.ts'
import { condition } from '../../harness/checks/refusals.ts'

/** Each required input left out by itself; `[]` where it is the only one. */
export const withoutInput = condition(async ({ valid, judge, story }) => {
  const application = story.run.target.resources.application
  for (const required of application?.requiredInputs ?? []) {
    const inputs = application?.inputs.filter((input) => getAt(input, '/id') !== required)
    await judge(withBody(await valid(), { inputs }), `with a valid body, but the required input ${required} left out`)
  }
})
