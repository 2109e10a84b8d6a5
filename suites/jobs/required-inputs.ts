import { getAt } from '../../schemas/pointer.ts'
import { withBody } from '../../harness/checks/conditions.ts'
import { granted } from '../../harness/checks/granted.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { withJson } from '../../harness/engine/probe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { declaredResource } from '../../harness/checks/valid-request.ts'

/** Only the inputs without which a job is refused: all others are optional. */
export const withRequiredInputs = granted('with just the required inputs', (valid, { run }) => {
  const { inputs, requiredInputs } = declaredResource(run, 'application')
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  if (required.length === 0 || required.length === inputs.length) {
    throw new NotExercised('declare an input of resources.application that requiredInputs does not name')
  }
  return withJson(valid, { inputs: required })
})

/** Each required input left out by itself; `[]` if it is the only one. */
export const withoutInput = condition(async ({ valid, judge, context }) => {
  const application = context.run.target.resources.application
  for (const required of application?.requiredInputs ?? []) {
    const inputs = application?.inputs.filter((input) => getAt(input, '/id') !== required)
    await judge(withBody(await valid(), { inputs }), `with a valid body, but the required input ${required} left out`)
  }
})
