import { judgeTries, accepted } from '../harness/checks/granted.ts'
import { contentOf, validRequest } from '../harness/checks/valid-request.ts'
import { sampled } from '../harness/checks/seed.ts'
import type { Run } from '../harness/engine/run.ts'
import type { Judge } from '../harness/engine/check-context.ts'
import { suite } from '../harness/checks/suite.ts'

/** The extension of the uploaded file; `pdf` if there is none. */
function extensionOf(run: Run): string {
  const filename = run.target.operations['files.upload']?.content ? contentOf(run).filename : ''
  return /\.(\w+)$/.exec(filename)?.[1] ?? 'pdf'
}

/** The listing with one extension, and with two (§2.8: comma-separated, without the dot). */
const judgeFileTypes: Judge = async (context) => {
  const { run, requirement } = context
  const first = extensionOf(run)
  const both = `${first},${first === 'pdf' ? 'txt' : 'pdf'}`
  // A scenario brings its own.
  for (const types of run.target.scenarios[requirement.id] ? [first] : sampled(context, [first, both])) {
    const make = async () => {
      const probe = await validRequest(run, 'files.list')
      return { ...probe, query: { ...probe.query, file_types: types } }
    }
    await judgeTries(context, { make, what: `with file_types ${types}` })
  }
}

// List files (§2.8, §4.4)

export const filesList = suite('files.list', {
  '2xx-accepted': accepted,
  '2xx-file-types': judgeFileTypes,
})
