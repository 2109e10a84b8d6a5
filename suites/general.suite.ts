import { jsonValue } from '../harness/journal/index.ts'
import { member, preview } from '../schemas/json.ts'
import { expired, invalid, malformed, missing, restricted } from './authentication/credentials.ts'
import { badInput } from './checks/bad-input.ts'
import { byRecord, malformedBody, malformedJsonBody, wrongContentType } from './checks/faults.ts'
import type { Further } from './checks/scenario.ts'
import { suite } from './checks/suite.ts'

// §5 Authentication, and the errors that every operation lists (§7.3 lead sentence, §7.2)

/** Faults for which every request is refused. */
export const everyFault = {
  '401-missing-credentials': missing,
  '401-malformed-key': malformed,
  '401-invalid-key': invalid,
  '401-expired-key': expired,
  '403-insufficient-rights': restricted,
  '400-malformed-json': malformedJsonBody,
  '400-wrong-content-type': wrongContentType,
}

export const everyOperation = suite('*', () => ({
  ...everyFault,
  '4xx-malformed-body': malformedBody,
  '4xx-missing-member': byRecord({ orNoBody: true }),
  'bad-input-no-5xx': badInput,
}))

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
