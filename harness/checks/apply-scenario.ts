import type { OperationId } from '../../catalogue/operations.ts'
import { missingNeeds } from '../target-file/declared.ts'
import { requirementOf, grantedRequirement } from '../../catalogue/catalogue.ts'
import { jsonType } from '../engine/operation-probe.ts'
import { type Probe, withHeader } from '../engine/probe.ts'
import { placeholderRequest } from './placeholder.ts'
import type { Run } from '../engine/run.ts'
import type { Scenario } from '../target-file/model.ts'
import { mergePatch } from '../../schemas/json.ts'

/** True if the scenario brings its own body, so that the operation need not be declared. */
export function bringsBody(scenario: Scenario): boolean {
  return scenario.raw !== undefined || Object.hasOwn(scenario, 'body')
}

/** True if the operation's valid request is declared. */
export function isDeclared(run: Run, operation: OperationId): boolean {
  return missingNeeds(run.target.file, requirementOf(grantedRequirement[operation]).needs).length === 0
}

/** The operation's valid request, changed as the scenario says; a request of its own if only the scenario's body is declared. */
export async function applyScenario(
  run: Run,
  scenario: Scenario,
  operation: OperationId,
  plain: () => Promise<Probe>,
): Promise<Probe> {
  const usesPlaceholder = bringsBody(scenario) && !isDeclared(run, operation)
  const base = usesPlaceholder ? await placeholderRequest(run, operation) : await plain()
  const probe = scenario.headers.reduce((changed, { name, value }) => withHeader(changed, name, value), base)
  const credential = scenario.key ? await run.keys.of(scenario.key) : base.credential
  return withScenarioBody(
    {
      ...probe,
      credential,
      params: { ...base.params, ...scenario.params },
      query: { ...base.query, ...scenario.query },
    },
    scenario,
  )
}

function withScenarioBody(probe: Probe, scenario: Scenario): Probe {
  if (scenario.raw) {
    const { bytes, contentType } = scenario.raw
    return { ...(contentType === undefined ? probe : withHeader(probe, 'content-type', contentType)), body: bytes }
  }
  const declared = Object.hasOwn(scenario, 'body')
  if (!declared && !Object.hasOwn(scenario, 'merge')) return probe
  const own: unknown = declared ? scenario.body : JSON.parse(String(probe.body ?? 'null'))
  const body = Object.hasOwn(scenario, 'merge') ? mergePatch(own, scenario.merge) : own
  const typed = probe.headers.some(({ name }) => name.toLowerCase() === 'content-type')
  return { ...(typed ? probe : withHeader(probe, jsonType.name, jsonType.value)), body: JSON.stringify(body) }
}
