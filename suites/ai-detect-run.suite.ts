import { accepted } from '../harness/checks/granted.ts'
import { at, empty, notText } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'

// AI detection (§4.4, §7.3)

export const aiDetectRun = suite('ai-detect.run', {
  '2xx-accepted': accepted,
  '400-empty-text': at('text', empty),
  '400-malformed-text': at('text', notText),
})
