import { requirementById, type RequirementId } from '../catalogue/catalogue.ts'
import type { OperationId } from '../catalogue/operations.ts'
import type { Given } from '../harness/client/index.ts'
import { isOpen, jsonValue, type Making, type Probe } from '../harness/journal/index.ts'
import { member, preview } from '../schemas/json.ts'
import {
  anyWord,
  byKeys,
  everywhere,
  expired,
  inForms,
  invalid,
  malformed,
  missing,
  restricted,
} from './authentication/credentials.ts'
import { badInput } from './checks/bad-input.ts'
import { type Condition, materialOf, refused } from './checks/case.ts'
import { byRecord, malformedBody, malformedJsonBody, wrongContentType } from './checks/faults.ts'
import type { Further } from './checks/scenario.ts'
import { suite } from './checks/suite.ts'

// §5 Authentication, and the errors that every operation lists (§7.3 lead sentence, §7.2)

const everyFault = () => ({
  '401-missing-credentials': byKeys(missing, everywhere),
  '401-malformed-key': byKeys(malformed, inForms, anyWord),
  '401-invalid-key': byKeys(invalid, inForms),
  '401-expired-key': byKeys(expired, everywhere),
  '403-insufficient-rights': byKeys(restricted, everywhere),
  '400-malformed-json': malformedJsonBody,
  '400-wrong-content-type': wrongContentType,
})

export const everyOperation = suite('*', () => ({
  ...everyFault(),
  '4xx-malformed-body': malformedBody,
  '4xx-missing-member': byRecord({ orNoBody: true }),
  'bad-input-no-5xx': badInput,
}))

/** A change for which a creation is refused, and the requirement about that. */
export interface RefusedChange {
  readonly requirement: string
  readonly purpose: ReturnType<typeof setupFor>
  change(valid: Probe): Making
}

/** The purpose of a request that is only sent because its refusal may have an effect. */
export const setupFor = (about: string, what: string) =>
  ({ about, what, role: 'setup', badInput: true }) as const

/**
 * The first case of each fault for which every creation is refused, if the target declares enough for any.
 * @param own further ones of the operation
 * @param only the faults to choose from; default: all
 */
export async function refusalsOf(
  given: Given,
  operation: OperationId,
  own: Readonly<Record<string, Condition>> = {},
  only?: readonly string[],
): Promise<RefusedChange[]> {
  const refusals: RefusedChange[] = []
  for (const [requirement, condition] of Object.entries({ ...own, ...everyFault() })) {
    if (only?.includes(requirement) === false) continue
    const id = `${operation}/${requirement}` as RequirementId
    const material = materialOf(given, requirementById[id], operation)
    if (isOpen(material)) continue
    const cases = await condition.casesIn(material, { given }, async () => material.valid)
    const [first] = isOpen(cases) ? [] : cases
    if (!first) continue
    const { what, change } = first
    const purpose = setupFor(id, what)
    refusals.push({ requirement, purpose, change: (valid) => refused(change(valid)) })
  }
  return refusals
}

/** §7.1: the message of a block names the guardrail and the kind of entity, both strings. */
const namesGuardrail: Further = (exchange) => {
  const errors = member(jsonValue(exchange.response), 'errors')
  for (const error of Array.isArray(errors) ? (errors as unknown[]) : []) {
    if (member(error, 'key') !== 'fail.guardrail.blocked') continue
    const extras = member(error, 'extras')
    for (const name of ['guardrail_name', 'entity_type']) {
      const value = member(extras, name)
      if (typeof value === 'string') continue
      const expected = `extras.${name}, a string, in the message with key fail.guardrail.blocked`
      const actual =
        value === undefined ? `its extras have no ${name}` : `extras.${name} is ${preview(value)}`
      return { expected, actual }
    }
  }
  return undefined
}

const blocked = { further: namesGuardrail }

// Guardrails (§7.1, §7.3) and the general rows of §7.2, for the scenario's operation

export const guardrails = suite('guardrails', () => ({
  '400-blocked': blocked,
  '400-blocked-by-provider': blocked,
}))

export const general = suite('general', () => ({}))
