import { accepted } from '../harness/checks/granted.ts'
import { suite } from '../harness/checks/suite.ts'
import { judgeFileTypes } from './files/file-types.ts'

// List files (§2.8, §4.4)

export const filesList = suite('files.list', {
  '2xx-accepted': accepted,
  '2xx-file-types': judgeFileTypes,
})
