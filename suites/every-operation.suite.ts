import { badInput } from '../harness/checks/bad-input.ts'
import { malformedBody, malformedJsonBody, wrongContentType } from '../harness/checks/bodies.ts'
import { suite } from '../harness/checks/suite.ts'
import { expired, invalid, malformed, missing, restricted } from './authentication/credentials.ts'

// §5 Authentication, and the errors that every operation lists (§7.3 lead sentence, §7.2)

export const everyOperation = suite('*', {
  '401-missing-credentials': missing,
  '401-malformed-key': malformed,
  '401-invalid-key': invalid,
  '401-expired-key': expired,
  '403-insufficient-rights': restricted,
  '400-malformed-json': malformedJsonBody,
  '400-wrong-content-type': wrongContentType,
  '4xx-malformed-body': malformedBody,
  'bad-input-no-5xx': badInput,
})
