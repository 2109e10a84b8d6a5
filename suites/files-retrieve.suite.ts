import { refused, unknown } from '../harness/checks/conditions.ts'
import { accepted } from '../harness/checks/granted.ts'
import { condition } from '../harness/checks/refusals.ts'
import { suite } from '../harness/checks/suite.ts'

// Get a file (§4.4, §7.3)

export const filesRetrieve = suite('files.retrieve', {
  '2xx-accepted': accepted,
  '404-unknown-file': unknown('file_id', ['unknown', 'asked twice', 'cut', 'lengthened', 'of another kind']),
  '410-deleted-file': condition(async ({ context, valid, judge }) => {
    const probe = await valid()
    const { deletedFile = '' } = context.run.target.resources
    await judge(
      refused({ ...probe, params: { file_id: deletedFile }, fault: 'id: deleted' }),
      'for a file that was deleted',
    )
  }),
})
