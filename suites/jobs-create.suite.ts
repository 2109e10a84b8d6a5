import { missingBody } from '../harness/checks/bodies.ts'
import { changed, unknown, withBody } from '../harness/checks/conditions.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeAnyText, judgeCreated, judgeRetrievable } from './jobs/creation.ts'
import { conflictRequirement } from './jobs/conflict-requirement.ts'
import { malformedInputs, withoutInput, withRequiredInputs } from './jobs/inputs.ts'
import { judgeNoEffect } from './jobs/no-effect.ts'

// §4.2 Create application job

export const jobsCreate = suite('jobs.create', {
  '202-created': judgeCreated,
  '202-retrievable': judgeRetrievable,
  '202-required-inputs-only': withRequiredInputs,
  '202-any-text': judgeAnyText,
  '400-missing-body': missingBody,
  '400-missing-inputs': changed('with a body that has no inputs', (probe) => withBody(probe, {}), 'absent @ /inputs'),
  '400-missing-required-inputs': withoutInput,
  '400-malformed-inputs': malformedInputs,
  '404-unknown-application': unknown('application_id', [
    'unknown',
    'asked twice',
    'cut',
    'lengthened',
    'of another kind',
  ]),
  '4xx-no-effect': judgeNoEffect,
  '409-job-in-progress': conflictRequirement('inProgress'),
  '409-released': conflictRequirement('released'),
  '409-per-application': conflictRequirement('perApplication'),
  '409-atomic': conflictRequirement('atomic'),
})
