import { accepted } from '../harness/checks/granted.ts'
import { at, empty, notText, unknownAt } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'

// Translation (§4.4, §7.3)

export const translateRun = suite('translate.run', {
  '2xx-accepted': accepted,
  '400-unsupported-language': unknownAt('source', 'target'),
  '400-empty-text': at('text', empty),
  '400-malformed-text': at('text', notText),
})
