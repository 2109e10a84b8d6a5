import { accepted } from '../harness/checks/granted.ts'
import { eachAt, notText, ofOtherTypes } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'

// Image analysis (§2.8, §7.3)

export const visionAnalyze = suite('vision.analyze', {
  '2xx-accepted': accepted,
  '400-malformed-request': eachAt(
    { role: 'prompt', faults: notText },
    { role: 'variables', faults: ofOtherTypes(['string', 'number', 'boolean', 'object']) },
  ),
})
