import { slowest } from './rate.ts'
import { isDeepStrictEqual } from 'node:util'
import { catalogue, requirementsDigest } from '../../catalogue/catalogue.ts'
import { getAt } from '../../schemas/json.ts'
import { groupBy } from '../group-by.ts'
import { orMistake, UserError } from '../user-error.ts'
import { computed, keyWasRefused } from './assemble-report.ts'
import { inconsistencies, outsideCause } from './exit-code.ts'
import type { PageCount, Report, RequirementResult } from './model.ts'
import { isLeftOut } from './reason.ts'
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
    if (problem !== undefined) throw new UserError(`${path}: contradicts itself: ${problem}`)
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

/** Members that must be equal in all parts. */
const sameInAll = {
  suite: ['name', 'version', 'specVersion', 'specDigest', 'requirementsDigest'],
  target: ['baseUrl', 'digest'],
  run: ['seed', 'runs', 'depth', 'strict', 'readOnly', 'tpe', 'only', 'skip', 'insecure'],
} as const

function refuseDifference(first: ReportFile, other: ReportFile): void {
  for (const [part, names] of Object.entries(sameInAll)) {
    for (const name of names) {
      const [one, two] = [first, other].map(({ report }) => getAt(report, `/${part}/${name}`))
      if (isDeepStrictEqual(one, two)) continue
      throw new UserError(
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
    if (missing !== undefined) throw new UserError(`${path}: requirements: ${missing} is missing`)
    const strange = [...own].find((id) => !ids.includes(id))
    if (strange === undefined) continue
    if (isOurs) throw new UserError(`${path}: requirements: holds ids that are no requirement`)
    throw new UserError(`${first.path}: requirements: ${strange} is missing (${path} has it)`)
  }
}

/** The parts of a run in their order; throws UserError if one is missing, doubled or no part. */
function inOrder(files: readonly ReportFile[]): [ReportFile, ...ReportFile[]] {
  const ordered: ReportFile[] = []
  let count = 0
  for (const file of files) {
    const shard = shardOfReport(file)
    count ||= shard.count
    const part = `${file.path}: is part ${shard.index}/${shard.count}`
    if (shard.count !== count)
      throw new UserError(`${part}, but ${files[0]!.path} is one of ${count}`)
    const double = ordered[shard.index - 1]
    if (double) throw new UserError(`${part}, and so is ${double.path}`)
    ordered[shard.index - 1] = file
  }
  const missing = Array.from({ length: count }, (_, index) => index).filter(
    (index) => !ordered[index],
  )
  if (missing.length > 0) {
    const parts = missing.map((index) => `${index + 1}/${count}`).join(', ')
    throw new UserError(`part ${parts} is missing; merge needs the reports of all ${count} shards`)
  }
  const [first, ...others] = ordered
  if (!first) throw new UserError('there is no report to merge')
  return [first, ...others]
}

function shardOfReport({ path, report }: ReportFile): Shard {
  if (report.run.shard === null) {
    throw new UserError(
      `${path}: is not a shard (run.shard is null); merge takes the reports of runs with --shard`,
    )
  }
  const shard = orMistake(() => parseShard(report.run.shard!))
  if (!(shard instanceof UserError)) return shard
  throw new UserError(
    `${path}: run.shard: ${JSON.stringify(report.run.shard)} is no part such as 1/3`,
  )
}

type Run = Report['run']

/**
 * The facts of all parts as those of one run. Whatever keeps a certificate from being whole in one of them (an interrupt,
 * few credential probes, a baseline, an operation that was declared not served and answered) holds for the whole.
 */
function mergeRuns(reports: readonly Report[]): Run {
  const runs = reports.map((report) => report.run)
  const rates = runs.flatMap(({ suggestedRate }) => suggestedRate ?? [])
  const held = runs.find((part) => part.baseline !== null)?.baseline
  const notServed = runs.flatMap((part) => part.notServed)
  return {
    ...runs[0]!,
    startedAt: runs
      .map((part) => part.startedAt)
      .reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a)),
    durationMs: sum(runs, (part) => part.durationMs),
    nonce: [...new Set(runs.map((part) => part.nonce))].join('+'),
    ca: runs.some((part) => part.ca),
    proxy: [...new Set(runs.flatMap(({ proxy }) => proxy ?? []))].join(', ') || null,
    requests: sum(runs, (part) => part.requests),
    throttled: sum(runs, (part) => part.throttled),
    retried: sum(runs, (part) => part.retried ?? 0),
    ...(rates.length > 0 && { suggestedRate: slowest(rates) }),
    concurrency: Math.max(...runs.map((part) => part.concurrency)),
    shard: null,
    // That a part was compared with a baseline is kept, but not the result: it does not hold for the whole.
    baseline: held ? { file: held.file, expected: [], stale: [], notExercised: [] } : null,
    interrupted: runs.some((part) => part.interrupted),
    credentialProbes: runs.some((part) => part.credentialProbes === 'few') ? 'few' : 'all',
    ...pagesOf(runs),
    ...answersIn(runs),
    ...absentIn(runs),
    notServed: [...new Map(notServed.map((one) => [JSON.stringify(one), one])).values()],
    created: runs.flatMap((part) => part.created),
  }
}

/** The pages of all parts, those of one kind counted together. */
function pagesOf(runs: readonly Run[]): Pick<Run, 'pages'> {
  const kinds = new Map<string, PageCount>()
  for (const { times, ...page } of runs.flatMap(({ pages = [] }) => pages)) {
    const key = JSON.stringify(page)
    kinds.set(key, { ...page, times: times + (kinds.get(key)?.times ?? 0) })
  }
  return kinds.size > 0 ? { pages: [...kinds.values()] } : {}
}

/** The answers of all parts; those that come and go as the first part tells of them. */
function answersIn(runs: readonly Run[]): Pick<Run, 'answersDiffer' | 'statuses'> {
  const all = runs.flatMap(({ statuses = [] }) => statuses)
  const statuses = [...groupBy(all, ({ status }) => status)].map(([status, of]) => ({
    status,
    times: sum(of, ({ times }) => times),
  }))
  const differ = runs.flatMap(({ answersDiffer: one }) => one ?? [])
  return {
    ...(statuses.length > 0 && { statuses }),
    ...(differ[0] && { answersDiffer: differ[0] }),
  }
}

/** What no part has found, and what each part says of the target. */
function absentIn(runs: readonly Run[]): Pick<Run, 'absent' | 'hints'> {
  const absent = new Map(
    runs.flatMap((part) => part.absent ?? []).map((one) => [one.operation, one]),
  )
  const hints = [...new Set(runs.flatMap((part) => part.hints ?? []))]
  return {
    ...(absent.size > 0 && { absent: [...absent.values()] }),
    ...(hints.length > 0 && { hints }),
  }
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
  if (isObserved(id)) return joinObserved(parts.map((part) => part.result))
  const [first, ...others] = parts.filter(({ result }) => !isLeftOut(result, '--shard'))
  if (!first)
    throw new UserError(`${id}: no shard has judged it; the reports are not the parts of one run`)
  // What the target file alone decides may read the same in several.
  const other = others.find(({ result }) => !isSameVoid(first.result, result))
  if (other)
    throw new UserError(
      `${id}: judged in ${first.path} and in ${other.path}; each belongs to one shard`,
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
    results.find((result) => result.outcome === 'failed') ??
    results.find((result) => result.outcome === 'passed') ??
    results.find((result) => !isLeftOut(result, '--shard')) ??
    results[0]!
  return {
    ...decisive,
    cases: sum(results, ({ cases }) => cases),
    durationMs: sum(results, ({ durationMs }) => durationMs),
    failures: results.flatMap((result) => result.failures),
  }
}
