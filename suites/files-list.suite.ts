import { accepted, granted } from '../harness/checks/granted.ts'
import { suite } from '../harness/checks/suite.ts'
import { contentOf } from '../harness/checks/valid-request.ts'

// List files (§2.8, §4.4)

export const filesList = suite('files.list', {
  '2xx-accepted': accepted,
  '2xx-file-types': granted('with file_types', (probe, { run }) => {
    const filename = run.target.operations['files.upload']?.content ? contentOf(run).filename : ''
    const extension = /\.(\w+)$/.exec(filename)?.[1] ?? 'pdf'
    return { ...probe, query: { ...probe.query, file_types: extension } }
  }),
})
