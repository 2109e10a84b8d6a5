import { codeNames, listedTypes } from '../catalogue/errors.ts'
import type { RequirementId } from '../catalogue/catalogue.ts'
import { member } from '../harness/engine/answer.ts'
import { badRequest, forbidden, notFound, unavailable } from '../harness/checks/common.ts'
import type { Pairs } from '../harness/engine/pairs.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import { type Further, judgeScenario } from '../harness/checks/judge-scenario.ts'
import { requirement } from '../harness/checks/registry.ts'
import type { OperationId } from '../catalogue/operations.ts'

// Guardrails (§7.1, §7.3) and the general rows of §7.2: whichever operation the scenario names

/** A row that a scenario brings about on the operation that it names; `gives` may depend on that operation. */
function onNamedOperation(id: RequirementId, gives: (operation: OperationId) => Pairs, further?: Further): void {
  requirement(id, async (story) => {
    const scenario = story.run.target.scenarios[id]
    if (!scenario) throw new NotExercised(`declare a scenario for ${id}`)
    await judgeScenario(story, scenario, scenario.operation, gives(scenario.operation), further)
  })
}

/** §7.1: the message of a block names the guardrail and the kind of entity, both strings. */
const namesGuardrail: Further = (story, exchange) => {
  const json = exchange.answer?.json()
  const errors = json?.ok ? member(json.value, 'errors') : undefined
  for (const error of Array.isArray(errors) ? (errors as unknown[]) : []) {
    if (member(error, 'key') !== 'fail.guardrail.blocked') continue
    const extras = member(error, 'extras')
    for (const name of ['guardrail_name', 'entity_type']) {
      if (typeof member(extras, name) === 'string') continue
      story.fail(
        exchange,
        `extras.${name}, a string, in the message with key fail.guardrail.blocked`,
        'as the scenario says',
      )
    }
  }
}

const blocked: Pairs = [[400, 'GuardrailBlockedError', 'BadRequest']]

onNamedOperation('guardrails/400-blocked', () => blocked, namesGuardrail)
onNamedOperation('guardrails/400-blocked-by-provider', () => badRequest, namesGuardrail)
onNamedOperation('guardrails/401-provider-credentials', () => [[401, 'BadCredentials']])
onNamedOperation('guardrails/403-provider-permissions', () => forbidden)
onNamedOperation('guardrails/404-unknown-guardrail', () => notFound)
onNamedOperation('guardrails/500-provider-error', () => [[500, 'InternalError']])
onNamedOperation('guardrails/503-provider-down', () => unavailable)

/** That status with a code name of its row, or a type that §7.3 lists with it for the scenario's operation. */
function ofRow(status: number): (operation: OperationId) => Pairs {
  return (operation) => [[status, ...new Set([...(codeNames(status) ?? []), ...listedTypes(operation, status)])]]
}

onNamedOperation('general/409-conflict', ofRow(409))
onNamedOperation('general/410-gone', ofRow(410))
onNamedOperation('general/413-payload-too-large', ofRow(413))
onNamedOperation('general/422-unprocessable', ofRow(422))
onNamedOperation('general/500-internal-error', ofRow(500))
onNamedOperation('general/503-unavailable', ofRow(503))
onNamedOperation('general/507-insufficient-storage', ofRow(507))
