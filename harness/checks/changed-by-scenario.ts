import type { Scenario } from '../target-file/index.ts'
import { type Probe, withHeader, jsonType } from '../engine/index.ts'
import { mergePatch } from '../../schemas/json.ts'

/** True if the scenario brings its own body, so that the operation need not be declared. */
export function bringsBody(scenario: Scenario): boolean {
  return scenario.raw !== undefined || Object.hasOwn(scenario, 'body')
}

/** The request as the scenario changes it, but for its key. */
export function changedBy(scenario: Scenario, base: Probe): Probe {
  const probe = scenario.headers.reduce(
    (changed, { name, value }) => withHeader(changed, name, value),
    base,
  )
  const params = { ...base.params, ...scenario.params }
  const query = { ...base.query, ...scenario.query }
  return withScenarioBody({ ...probe, params, query }, scenario)
}

function withScenarioBody(probe: Probe, scenario: Scenario): Probe {
  if (scenario.raw) {
    const { bytes, contentType } = scenario.raw
    return {
      ...(contentType === undefined ? probe : withHeader(probe, 'content-type', contentType)),
      body: bytes,
    }
  }
  const declared = Object.hasOwn(scenario, 'body')
  if (!declared && !Object.hasOwn(scenario, 'merge')) return probe
  const own: unknown = declared ? scenario.body : JSON.parse(String(probe.body ?? 'null'))
  const body = Object.hasOwn(scenario, 'merge') ? mergePatch(own, scenario.merge) : own
  const typed = probe.headers.some(({ name }) => name.toLowerCase() === 'content-type')
  return {
    ...(typed ? probe : withHeader(probe, jsonType.name, jsonType.value)),
    body: JSON.stringify(body),
  }
}
