import type { RequirementResult } from './model.ts'
import { UserError } from '../user-error.ts'
import { isLeftOut } from './reason.ts'
import type { ReportFile } from './report-file.ts'
import { isObserved } from './shard.ts'

/** A requirement's result in one of the parts. */
interface Part {
  readonly path: string
  readonly result: RequirementResult
}

/** The results of the whole: each from the shard that it was dealt to, the observed ones from all. */
export function mergeResults(files: readonly ReportFile[]): RequirementResult[] {
  const maps = files.map(({ path, report }) => ({
    path,
    results: new Map(report.requirements.map((result) => [result.id, result])),
  }))
  for (const { path, results } of maps) {
    const strange = [...results.keys()].find((id) => !maps[0]!.results.has(id))
    if (strange !== undefined)
      throw new UserError(`${maps[0]!.path}: requirements: ${strange} is missing (${path} has it)`)
  }
  return files[0]!.report.requirements.map(({ id }) => {
    const parts = maps.map(({ path, results }): Part => {
      const result = results.get(id)
      if (!result) throw new UserError(`${path}: requirements: ${id} is missing`)
      return { path, result }
    })
    return isObserved(id) ? joinObserved(parts.map((part) => part.result)) : dealtOne(id, parts)
  })
}

/** The one that its shard did not leave out. What the target file alone decides may read the same in several. */
function dealtOne(id: string, parts: readonly Part[]): RequirementResult {
  const [first, ...others] = parts.filter(({ result }) => !isLeftOut(result, '--shard'))
  if (!first) throw new UserError(`${id}: no shard has judged it; the reports are not the parts of one run`)
  const other = others.find(({ result }) => !isSameVoid(first.result, result))
  if (other) throw new UserError(`${id}: judged in ${first.path} and in ${other.path}; each belongs to one shard`)
  return first.result
}

function isSameVoid(one: RequirementResult, two: RequirementResult): boolean {
  const isVoid = one.outcome === 'not-applicable' || one.outcome === 'not-exercised'
  return isVoid && one.outcome === two.outcome && one.reason === two.reason
}

/** Failed if in any, else passed if in any; else as in the first that was not merely dealt to another shard. */
function joinObserved(results: readonly RequirementResult[]): RequirementResult {
  const decisive =
    results.find((result) => result.outcome === 'failed') ??
    results.find((result) => result.outcome === 'passed') ??
    results.find((result) => !isLeftOut(result, '--shard')) ??
    results[0]!
  return {
    ...decisive,
    cases: results.reduce((total, result) => total + result.cases, 0),
    durationMs: results.reduce((total, result) => total + result.durationMs, 0),
    failures: results.flatMap((result) => result.failures),
  }
}
