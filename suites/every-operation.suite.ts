import { operations } from '../catalogue/operations.ts'
import { failing } from '../catalogue/rows/every-operation.ts'
import { expired, invalid, malformed, missing, restricted } from './authentication/credentials.ts'
import { malformedJson, unreadable, wrongContentType } from '../harness/checks/bodies.ts'
import { refusals, scenario } from '../harness/checks/refusals.ts'

// §5 Authentication, and the errors that every operation lists (§7.3 lead sentence, §7.2)

// prettier-ignore
for (const { id } of operations) {
  refusals(id, [
    { id: `${id}/401-missing-credentials`, when: missing,    gives: [[401, 'BadCredentials']],             fault: 'credentials' },
    { id: `${id}/401-malformed-key`,       when: malformed,  gives: [[401, 'BadCredentials']],             fault: 'credentials' },
    { id: `${id}/401-invalid-key`,         when: invalid,    gives: [[401, 'BadCredentials', 'BadToken']], fault: 'credentials' },
    { id: `${id}/401-expired-key`,         when: expired,    gives: [[401, 'BadToken']],                   fault: 'credentials' },
    { id: `${id}/403-insufficient-rights`, when: restricted, gives: [[403, 'InsufficientAccessRights']],   fault: 'credentials' },
  ])
}

/** Operations for which §7.3 names no quota error: the row of §7.2 decides. */
const unlisted: readonly string[] = ['jobs.retrieve', 'files.list', 'medical.comprehend']

for (const { id } of operations) {
  const names = unlisted.includes(id) ? ['QuotaExceeded', 'TooManyRequests'] : ['QuotaExceeded']
  refusals(id, [{ id: `${id}/429-quota-exceeded`, when: scenario, gives: [[429, ...names]] }])
}

// prettier-ignore
for (const operation of operations) {
  if (operation.body !== 'json') continue
  refusals(operation.id, [
    { id: `${operation.id}/400-malformed-json`,     when: malformedJson,    gives: unreadable },
    { id: `${operation.id}/400-wrong-content-type`, when: wrongContentType, gives: unreadable },
  ])
}

for (const id of failing) {
  refusals(id, [{ id: `${id}/500-internal-error`, when: scenario, gives: [[500, 'InternalError']] }])
}
