import { accepted } from '../harness/checks/granted.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeAttached } from './files/attached-to-graph.ts'
import { judgeRetrievable } from './files/retrievable.ts'

// Upload a file (§2.8, §4.4, §7.3)

export const filesUpload = suite('files.upload', {
  '2xx-accepted': accepted,
  '2xx-attached-to-graph': judgeAttached,
  '2xx-retrievable': judgeRetrievable,
})
