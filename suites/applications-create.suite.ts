import { applyScenario } from '../harness/checks/apply-scenario.ts'
import { pointerOf } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'
import type { CheckContext } from '../harness/engine/check-context.ts'
import { jsonOf, type Probe } from '../harness/engine/probe.ts'
import { isExclusive } from '../harness/target-file/model.ts'
import { getAt } from '../schemas/pointer.ts'
import { withBody } from '../harness/checks/conditions.ts'
import { setAt } from '../schemas/pointer.ts'
import { jobsOf } from './jobs/job-tracker.ts'
import { eachAccepted, malformedName } from './created/created-object.ts'
import { named } from './created/creators.ts'
import { ofBodies, type Refusal } from './created/refusals.ts'
import { noEffect, once, onceAtOnce, ownId } from './created/relations.ts'
import { usable } from './created/usable.ts'

const applications = named('applications.create')

/** Refused for its blueprint, as the scenario of that row says, and with the name of the valid one. */
function refusedByBlueprint({ run }: CheckContext): Refusal[] {
  const scenario = run.target.scenarios['applications.create/400-invalid-blueprint']
  const pointer = pointerOf(run, 'applications.create', 'name')
  if (!scenario || scenario.raw || isExclusive(scenario) || pointer === undefined) return []
  const change = async (valid: Probe): Promise<Probe> => {
    const probe = await applyScenario(run, scenario, 'applications.create', async () => valid)
    return withBody(probe, setAt(jsonOf(probe), pointer, getAt(jsonOf(valid), pointer)))
  }
  return [{ requirement: '400-invalid-blueprint', what: 'for its blueprint', statuses: ofBodies, change }]
}

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', {
  '2xx-accepted': eachAccepted,
  // No declared application, so nothing else records its jobs; the run waits for their end anyway.
  '2xx-usable': usable('applications.create', (run, id, exchange) => void jobsOf(run).track(exchange, id)),
  '2xx-own-id': ownId('applications.create'),
  '4xx-no-effect': noEffect(applications, refusedByBlueprint),
  '400-atomic': onceAtOnce(applications),
  '400-malformed-parameters': malformedName,
  '400-duplicate-name': once(applications),
})
