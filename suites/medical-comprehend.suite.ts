import { at, notText } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeEntities } from './medical-comprehend/entities.ts'

// Medical text analysis (deprecated; §2.8)

export const medicalComprehend = suite('medical.comprehend', {
  '200-entities': judgeEntities,
  '400-malformed-request': at('content', notText),
})
