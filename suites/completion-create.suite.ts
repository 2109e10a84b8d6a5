import { anyBadRequest } from '../catalogue/answers.ts'
import { accepted } from '../harness/checks/granted.ts'
import { at, eachAt, empty, giving, notText, ofOtherTypes, unknownAt } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'
import { badEncoding } from './completion-create/bad-encoding.ts'
import { otherParameter } from './completion-create/other-parameter.ts'

// Text generation (§7.3)

const notNumber = ofOtherTypes(['string', 'boolean', 'array', 'object'])

export const completionCreate = suite('completion.create', {
  '2xx-accepted': accepted,
  '400-unsupported-model': unknownAt('model'),
  '400-malformed-request': eachAt(
    { role: 'model', faults: ofOtherTypes(['number', 'boolean', 'array', 'object']) },
    { role: 'prompt', faults: giving(anyBadRequest, notText) },
  ),
  '400-empty-prompt': at('prompt', empty),
  '400-bad-encoding': badEncoding,
  '400-invalid-temperature': at('temperature', notNumber),
  '400-invalid-max-tokens': at('max_tokens', notNumber),
  '400-invalid-parameter': otherParameter,
})
