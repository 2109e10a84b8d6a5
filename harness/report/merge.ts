import { isDeepStrictEqual } from 'node:util'
import { catalogue, requirementsDigest } from '../../catalogue/catalogue.ts'
import { getAt } from '../../schemas/json.ts'
import { groupBy } from '../group-by.ts'
import { ensure, orMistake, UserError } from '../user-error.ts'
import { computed, keyWasRefused } from './assemble-report.ts'
import { inconsistencies, outsideCause } from './exit-code.ts'
import type { Report, RequirementResult } from './report-schema.ts'
import { isLeftOut, rateOf } from './reason.ts'
import type { ReportFile } from './json-file.ts'
import { parseShard, type Shard, isObserved } from './selection.ts'

/**
 * Joins the reports of all shards of a run into the report that the run would have given in one piece: its verdict, its
 * counts (`durationMs` is the sum, too), interrupted if any was. Nothing that a part says of its own results is believed:
 * verdict, summary and exit code are computed again. Expected failures are not taken over: the baseline is to be held
 * against the whole. Throws UserError if a part contradicts itself, if the parts are of different runs, or if one is
 * missing or doubled.
 */
export function mergeReports(files: readonly ReportFile[]): Report {
  const parts = inOrder(files)
  const [first] = parts
  for (const { path, report } of parts) {
    const [problem] = inconsistencies(report)
    ensure(problem === undefined, `${path}: contradicts itself: ${problem}`)
    refuseDifference(first, { path, report })
  }
  refuseOtherRequirements(parts)
  const reports = parts.map((file) => file.report)
  const requirements = first.report.requirements.map(({ id }) => mergeResults(id, parts))
  const run = mergeRuns(reports)
  const notJudged = reports.map(outsideCause).find((cause) => cause !== undefined)
  const judged = { ...run, keyRefused: reports.some(keyWasRefused) }
  return computed({ ...first.report, run, requirements }, judged, notJudged)
}

const sameInAll = {
  suite: ['name', 'version', 'specVersion', 'specDigest', 'requirementsDigest'],
  target: ['baseUrl', 'digest'],
  run: ['seed', 'runs', 'depth', 'strict', 'readOnly', 'tpe', 'only', 'skip', 'insecure'],
} as const

function refuseDifference(first: ReportFile, other: ReportFile): void {
  for (const [part, names] of Object.entries(sameInAll)) {
    for (const name of names) {
      const [one, two] = [first, other].map(({ report }) => getAt(report, `/${part}/${name}`))
      ensure(
        isDeepStrictEqual(one, two),
        `${other.path}: ${part}.${name} is ${JSON.stringify(two)}, but ${JSON.stringify(one)} in ${first.path}; ` +
          'only the shards of one run can be merged',
      )
    }
  }
}

/** All parts hold the same requirements, and exactly those of this suite if they name its. */
function refuseOtherRequirements([first, ...others]: readonly [ReportFile, ...ReportFile[]]): void {
  const { requirements, suite } = first.report
  const isOurs = suite.requirementsDigest === requirementsDigest()
  const ids: readonly string[] = (isOurs ? catalogue : requirements).map(({ id }) => id)
  for (const { path, report } of [first, ...others]) {
    const own = new Set(report.requirements.map(({ id }) => id))
    const missing = ids.find((id) => !own.has(id))
    ensure(missing === undefined, `${path}: requirements: ${missing} is missing`)
    const strange = [...own].find((id) => !ids.includes(id))
    const problem = isOurs
      ? `${path}: requirements: holds ids that are no requirement`
      : `${first.path}: requirements: ${strange} is missing (${path} has it)`
    ensure(strange === undefined, problem)
  }
}

function inOrder(files: readonly ReportFile[]): [ReportFile, ...ReportFile[]] {
  const ordered: ReportFile[] = []
  let count = 0
  for (const file of files) {
    const shard = shardOfReport(file)
    count ||= shard.count
    const part = `${file.path}: is part ${shard.index}/${shard.count}`
    ensure(shard.count === count, `${part}, but ${files[0]!.path} is one of ${count}`)
    const double = ordered[shard.index - 1]
    ensure(double === undefined, `${part}, and so is ${double?.path}`)
    ordered[shard.index - 1] = file
  }
  const missing = Array.from({ length: count }, (_, at) => at + 1).filter((at) => !ordered[at - 1])
  const parts = missing.map((at) => `${at}/${count}`).join(', ')
  ensure(
    missing.length === 0,
    `part ${parts} is missing; merge needs the reports of all ${count} shards`,
  )
  const [first, ...others] = ordered
  ensure(first !== undefined, 'there is no report to merge')
  return [first, ...others]
}

function shardOfReport({ path, report: { run } }: ReportFile): Shard {
  const whole = `is not a shard (run.shard is null); merge takes the reports of runs with --shard`
  ensure(run.shard !== null, `${path}: ${whole}`)
  const { shard } = run
  const read = orMistake(() => parseShard(shard))
  if (!(read instanceof UserError)) return read
  throw new UserError(`${path}: run.shard: ${JSON.stringify(shard)} is no part such as 1/3`)
}

type Run = Report['run']

/**
 * The facts of all parts as those of one run. Whatever keeps a certificate from being whole in one of them (an interrupt,
 * few credential probes, a baseline, an operation that was declared not served and answered) holds for the whole.
 */
function mergeRuns(reports: readonly Report[]): Run {
  const runs = reports.map((report) => report.run)
  const all = <T>(of: (run: Run) => readonly T[] | undefined): T[] =>
    runs.flatMap((run) => of(run) ?? [])
  const unless = <Name extends string, T>(name: Name, list: T[]): { [name in Name]?: T[] } =>
    list.length > 0 ? ({ [name]: list } as { [name in Name]?: T[] }) : {}
  const rates = all(({ suggestedRate }) => (suggestedRate === undefined ? [] : [suggestedRate]))
  const slowest = rates.toSorted((one, other) => (rateOf(one) ?? 0) - (rateOf(other) ?? 0))[0]
  const held = runs.find(({ baseline }) => baseline !== null)?.baseline
  const differ = runs.find(({ answersDiffer }) => answersDiffer !== undefined)?.answersDiffer
  const absent = new Map(all((run) => run.absent).map((one) => [one.operation, one]))
  return {
    ...runs[0]!,
    startedAt: runs
      .map(({ startedAt }) => startedAt)
      .reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a)),
    durationMs: sum(runs, ({ durationMs }) => durationMs),
    nonce: [...new Set(runs.map(({ nonce }) => nonce))].join('+'),
    ca: runs.some(({ ca }) => ca),
    proxy: [...new Set(runs.flatMap(({ proxy }) => proxy ?? []))].join(', ') || null,
    requests: sum(runs, ({ requests }) => requests),
    throttled: sum(runs, ({ throttled }) => throttled),
    retried: sum(runs, ({ retried = 0 }) => retried),
    ...(slowest !== undefined && { suggestedRate: slowest }),
    concurrency: Math.max(...runs.map(({ concurrency }) => concurrency)),
    shard: null,
    // That a part was compared with a baseline is kept, but not the result: it does not hold for the whole.
    baseline: held ? { file: held.file, expected: [], stale: [], notExercised: [] } : null,
    interrupted: runs.some(({ interrupted }) => interrupted),
    credentialProbes: runs.some(({ credentialProbes }) => credentialProbes === 'few')
      ? 'few'
      : 'all',
    ...unless('pages', counted(all((run) => run.pages))),
    ...unless('statuses', counted(all((run) => run.statuses))),
    ...(differ && { answersDiffer: differ }),
    ...unless('absent', [...absent.values()]),
    ...unless('hints', [...new Set(all((run) => run.hints))]),
    notServed: unique(all((run) => run.notServed)),
    created: all((run) => run.created),
  }
}

function counted<T extends { readonly times: number }>(kinds: readonly T[]): T[] {
  const groups = groupBy(kinds, ({ times: _, ...kind }) => JSON.stringify(kind))
  return [...groups.values()].map((of) => ({ ...of[0]!, times: sum(of, ({ times }) => times) }))
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((one) => [JSON.stringify(one), one])).values()]
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

/** A result of the whole: that of the shard that it was dealt to; one that is observed is in all. */
function mergeResults(id: string, files: readonly ReportFile[]): RequirementResult {
  const parts = files.map(({ path, report }) => ({
    path,
    result: report.requirements.find((one) => one.id === id)!,
  }))
  if (isObserved(id)) return joinObserved(parts.map(({ result }) => result))
  const [first, ...others] = parts.filter(({ result }) => !isLeftOut(result, '--shard'))
  ensure(
    first !== undefined,
    `${id}: no shard has judged it; the reports are not the parts of one run`,
  )
  // What the target file alone decides may read the same in several.
  const other = others.find(({ result }) => !isSameVoid(first.result, result))
  ensure(
    other === undefined,
    `${id}: judged in ${first.path} and in ${other?.path}; each belongs to one shard`,
  )
  return first.result
}

function isSameVoid(one: RequirementResult, two: RequirementResult): boolean {
  const isVoid = one.outcome === 'not-applicable' || one.outcome === 'not-exercised'
  return isVoid && one.outcome === two.outcome && one.reason === two.reason
}

/** Failed if in any, else passed if in any; else as in the first that was not merely dealt to another shard. */
function joinObserved(results: readonly RequirementResult[]): RequirementResult {
  const decisive =
    results.find(({ outcome }) => outcome === 'failed') ??
    results.find(({ outcome }) => outcome === 'passed') ??
    results.find((result) => !isLeftOut(result, '--shard')) ??
    results[0]!
  return {
    ...decisive,
    cases: sum(results, ({ cases }) => cases),
    durationMs: sum(results, ({ durationMs }) => durationMs),
    failures: results.flatMap(({ failures }) => failures),
  }
}
