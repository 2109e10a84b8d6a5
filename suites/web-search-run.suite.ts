import { accepted } from '../harness/checks/granted.ts'
import { at, empty, notText } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'

// Web search (§4.4, §7.3)

export const webSearchRun = suite('web-search.run', {
  '2xx-accepted': accepted,
  '400-empty-query': at('query', empty),
  '400-malformed-query': at('query', notText),
})
