import { UserError } from '../user-error.ts'
import type { ReportFile } from './report-file.ts'
import { parseShard, type Shard } from './shard.ts'

/** The parts of a run in their order; throws UserError if one is missing, doubled or no part. */
export function inOrder(files: readonly ReportFile[]): [ReportFile, ...ReportFile[]] {
  const parts = files.map((file) => ({ file, shard: shardOfReport(file) }))
  const count = parts[0]?.shard.count ?? 0
  const ordered: ReportFile[] = []
  for (const { file, shard } of parts) {
    if (shard.count !== count) {
      throw new UserError(
        `${file.path}: is part ${shard.index}/${shard.count}, but ${files[0]!.path} is one of ${count}`,
      )
    }
    const double = ordered[shard.index - 1]
    if (double) throw new UserError(`${file.path}: is part ${shard.index}/${count}, and so is ${double.path}`)
    ordered[shard.index - 1] = file
  }
  const [first, ...others] = ordered
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !ordered[index])
  if (missing.length > 0) {
    const parts = missing.map((index) => `${index + 1}/${count}`).join(', ')
    throw new UserError(`part ${parts} is missing; merge needs the reports of all ${count} shards`)
  }
  if (!first) throw new UserError('there is no report to merge')
  return [first, ...others]
}

function shardOfReport({ path, report }: ReportFile): Shard {
  if (report.run.shard === null) {
    throw new UserError(`${path}: is not a shard (run.shard is null); merge takes the reports of runs with --shard`)
  }
  try {
    return parseShard(report.run.shard)
  } catch {
    throw new UserError(`${path}: run.shard: ${JSON.stringify(report.run.shard)} is no part such as 1/3`)
  }
}
