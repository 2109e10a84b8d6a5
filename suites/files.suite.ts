import { forbidden, invalidContent, invalidInput, badRequest, notFound, oversized } from '../harness/checks/common.ts'
import { contentOf } from '../harness/checks/valid-request.ts'
import { refused, unknown } from '../harness/checks/conditions.ts'
import { accepted, grantedRowOf } from '../harness/checks/granted.ts'
import { type Condition, refusals, scenario } from '../harness/checks/refusals.ts'
import { must } from '../harness/checks/registry.ts'
import { attachedLooks, judgeAttached } from './files/attached-to-graph.ts'

// Files (§2.8, §4.4, §7.3)

accepted('files.upload')
must('files.upload/2xx-attached-to-graph', judgeAttached, () => 2 * attachedLooks)

// prettier-ignore
refusals('files.upload', [
  { id: 'files.upload/400-unsupported-type', when: scenario, gives: badRequest },
  { id: 'files.upload/400-oversized',        when: scenario, gives: oversized },
  { id: 'files.upload/400-corrupted',        when: scenario, gives: invalidContent },
  { id: 'files.upload/413-body-too-large',   when: scenario, gives: [[413, 'BadRequest', 'PayloadTooLarge'], ...invalidInput] },
  { id: 'files.upload/507-storage-full',     when: scenario, gives: [[507, 'QuotaExceeded']] },
])

accepted('files.list')
grantedRowOf('files.list', 'files.list/2xx-file-types', 'with file_types', (probe, { run }) => {
  const filename = run.target.operations['files.upload']?.content ? contentOf(run).filename : ''
  const extension = /\.(\w+)$/.exec(filename)?.[1] ?? 'pdf'
  return { ...probe, query: { ...probe.query, file_types: extension } }
})

accepted('files.retrieve')

const deleted: Condition = async ({ story, valid, judge }) => {
  const probe = await valid()
  const { deletedFile = '' } = story.run.target.resources
  await judge(refused({ ...probe, params: { file_id: deletedFile } }), 'for a file that was deleted')
}

// prettier-ignore
refusals('files.retrieve', [
  { id: 'files.retrieve/403-file-access',  when: scenario,           gives: forbidden },
  { id: 'files.retrieve/404-unknown-file', when: unknown('file_id'), gives: notFound },
  { id: 'files.retrieve/410-deleted-file', when: deleted,            gives: [[410, 'ResourceNotFound']] },
])
