import { suite } from '../harness/checks/suite.ts'
import { judgeUsableApplication } from './jobs/creation.ts'
import { duplicateName, malformedName, eachAccepted } from './created/created-object.ts'

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', {
  '2xx-accepted': eachAccepted,
  '2xx-usable': judgeUsableApplication,
  '400-malformed-parameters': malformedName,
  '400-duplicate-name': duplicateName,
})
