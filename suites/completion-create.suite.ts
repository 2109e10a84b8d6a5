import { badRequest, forbidden, invalidContent, invalidInput, modelError } from '../harness/checks/common.ts'
import { accepted } from '../harness/checks/granted.ts'
import { refusals, scenario } from '../harness/checks/refusals.ts'
import { empty, faultsAt, notText, ofOtherTypes, unknownAt } from '../harness/checks/roles.ts'
import { badEncoding } from './completion-create/bad-encoding.ts'
import { otherParameter } from './completion-create/other-parameter.ts'

// Text generation (§7.3)

accepted('completion.create')

const notNumber = ofOtherTypes(['string', 'boolean', 'array', 'object'])
const negative = [-1, -100].map((value) => ({
  what: `is ${value}`,
  value,
  gives: [[400, 'InvalidContentType', 'InvalidInputParameters']] as const,
}))

// prettier-ignore
refusals('completion.create', [
  { id: 'completion.create/400-unsupported-model',    when: unknownAt('model'), gives: badRequest },
  { id: 'completion.create/400-malformed-request',    when: faultsAt({ role: 'model', faults: ofOtherTypes(['number', 'boolean', 'array', 'object']) },
                                                                     { role: 'prompt', faults: ofOtherTypes(notText, [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType']]) }), gives: badRequest },
  { id: 'completion.create/400-empty-prompt',         when: faultsAt({ role: 'prompt', faults: empty }), gives: invalidInput },
  { id: 'completion.create/400-bad-encoding',         when: badEncoding, gives: [[400, 'InvalidInputParameters', 'InvalidContentType', 'BadRequest']] },
  { id: 'completion.create/400-invalid-temperature',  when: faultsAt({ role: 'temperature', faults: notNumber }), gives: invalidContent },
  { id: 'completion.create/400-invalid-max-tokens',   when: faultsAt({ role: 'max_tokens', faults: [...notNumber, ...negative] }), gives: invalidContent },
  { id: 'completion.create/400-invalid-parameter',    when: otherParameter, gives: invalidContent },
  { id: 'completion.create/403-model-access',         when: scenario, gives: forbidden },
  { id: 'completion.create/429-model-quota',          when: scenario, gives: [[429, 'CompletionModelQuotaError']] },
  { id: 'completion.create/500-model-unavailable',    when: scenario, gives: [[500, 'CompletionModelUnavailableError']] },
  { id: 'completion.create/500-model-overload',       when: scenario, gives: [[500, 'CompletionModelInternalError']] },
  { id: 'completion.create/model-unauthorized',       when: scenario, gives: modelError('CompletionModelUnauthorizedError') },
  { id: 'completion.create/model-underlying-request', when: scenario, gives: modelError('CompletionModelUnderlyingRequestError') },
  { id: 'completion.create/model-unsafe-request',     when: scenario, gives: modelError('CompletionModelUnsafeRequestError') },
  { id: 'completion.create/model-no-prediction',      when: scenario, gives: modelError('CompletionModelNoPredictionError') },
])
