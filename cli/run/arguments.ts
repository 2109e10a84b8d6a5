import {
  type Command,
  type OptionValues,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings'
import {
  rateOf,
  isLeftOut,
  readReport,
  type RequirementResult,
  type Report,
} from '../../harness/report/index.ts'
import { type HeaderValues, labels } from '../../harness/target/index.ts'
import { UserError } from '../../harness/user-error.ts'
import { patternMistake, rerunCommand } from '../../library/options.ts'
import { formatNames } from '../../reporters/index.ts'
import { findRequirement } from '../../catalogue/catalogue.ts'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { writeAtomically } from '../../library/output.ts'
import { type RunOptions, runOptionsOf } from '../../harness/client/index.ts'
import { isSecretName, printed } from '../../harness/recording/redactor.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { json } from '../../reporters/text.ts'
import { isWithoutOutcome } from '../../reporters/view/next-steps.ts'

export type OptionsOf<Make extends () => { opts(): unknown }> = ReturnType<ReturnType<Make>['opts']>

export type RunArguments = ReturnType<ReturnType<typeof addArguments>['opts']>

function requestsPerSecond(text: string): number {
  const rate = rateOf(text)
  if (rate === undefined)
    throw new InvalidArgumentError('Give requests per second, or 60/min; 0: no limit.')
  return rate
}

/** The report of `--failed` without a path. */
export const lastRun = 'the last run'

export function addArguments(command: Command) {
  return addGates(command)
    .argument('[base_url]', 'the server to judge')
    .option('-t, --target <file>', 'target file: JSON, or a module (conform init)')
    .option('-k, --key <key>', 'API key (prefer CONFORM_API_KEY: not in ps)')
    .option('--start <command>', 'start the server with this command; stop it')
    .option('--wait <ms>', 'how long to wait for it (--start: 30000)', whole(1, 3_600_000))
    .option(
      "--header <'name: value'>",
      "with every request; 'name: env:NAME'; repeatable",
      withHeader,
    )
    .option('--insecure', 'accept invalid TLS certificates')
    .addOption(repeatable('--only <pattern>', 'ids to run; * is any characters; repeatable'))
    .addOption(repeatable('--skip <pattern>', 'ids to leave out; repeatable'))
    .addOption(
      new Option('--failed [report.json]', 'rerun failures of that report').preset(lastRun),
    )
    .option('--read-only', 'send nothing that creates or generates')
    .addOption(
      new Option('--depth <depth>', 'quick: one case of each kind')
        .choices(['full', 'quick'] as const)
        .default('full' as const),
    )
    .option('--runs <n>', 'generated cases: 25 a refusal, 5 a grant', whole(1, 100_000))
    .option('--seed <int>', 'seed of generated inputs', whole(-2147483648, 2147483647))
    .option('--update-baseline', 'rewrite the baseline from this run')
    .option('--bail [n]', 'stop at the first or n-th failed required check', whole(1, 100_000))
    .option('--concurrency <n>', 'requests under way at once', whole(1, 256))
    .option('--rate <n>', 'requests per second, or 60/min; 0: no limit', requestsPerSecond)
    .option('--timeout <ms>', 'time for one whole exchange', whole(1, 3_600_000))
    .option('--verbose', 'every failure, case and reason')
    .option('--dry-run', 'print the number of requests, send none')
}

/** Options of every command that judges: its reports, and what decides the exit code. */
export function addGates<Args extends unknown[], Opts extends OptionValues>(
  command: Command<Args, Opts>,
) {
  const tpe = new Option('--tpe <mode>', 'names of errors; family: any of the status')
  return command
    .addOption(reportOption(formatNames))
    .option('--baseline <file>', 'expected failures: a report, or {"expected": [...]}')
    .option('--strict', 'exit 1 also if a recommendation failed')
    .option('--require-exercised', 'exit 1 also for untested required checks')
    .addOption(tpe.choices(['exact', 'family'] as const).default('exact' as const))
}

export function reportOption(formats: readonly string[]) {
  return repeatable('--report <format>[=<path>]' as '--report <format>', formats.join(', '))
}

/**
 * Checks what commander cannot: patterns that match nothing, and options that go together. Throws UserError. Returns the
 * options, with the ids that `--failed` stands for.
 */
export function checkArguments(baseUrl: string | undefined, options: RunArguments): RunArguments {
  const { baseline, only, skip, start, target, updateBaseline, wait } = options
  for (const [option, patterns] of Object.entries({ '--only': only, '--skip': skip }))
    for (const pattern of patterns) {
      const mistake = patternMistake(pattern)
      if (mistake !== undefined) throw new UserError(`${option}: ${mistake}`)
    }
  if ((start ?? wait) !== undefined && (baseUrl ?? target) === undefined) {
    const option = start === undefined ? '--wait' : '--start'
    throw new UserError(`${option}: give the base URL of the server, or a target file with one`)
  }
  if (updateBaseline && baseline === undefined)
    throw new UserError('--update-baseline: needs --baseline <file>, the file to write')
  return options.failed === undefined ? options : withFailed(baseUrl, options)
}

/** Adds a header, whose name is case-insensitive, or replaces it. */
function withHeader(line: string, before: HeaderValues = {}): HeaderValues {
  const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
  if (name === undefined)
    throw new InvalidArgumentError("Give it as 'name: value', or 'name: env:NAME'.")
  const [, env] = /^env:(\w+)$/.exec(value) ?? []
  return { ...before, [name.toLowerCase()]: env === undefined ? value : { env } }
}

export function repeatable<const Flags extends string>(flags: Flags, meaning: string) {
  return new Option(flags, meaning)
    .argParser((value, before: readonly string[]): readonly string[] => [...before, value])
    .default([] as readonly string[], 'none')
}

export function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (!/^-?\d+$/.test(text) || number < least || number > most) {
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`)
    }
    return number
  }
}

/**
 * Replaces `--failed` by `--only` for each id that failed, or was left out by an interrupt or `--bail`, in the given
 * report or the last run of this target. Throws UserError if there is none.
 */
export function withFailed(baseUrl: string | undefined, options: RunArguments): RunArguments {
  const { failed = lastRun, only, target } = options
  const isLast = failed === lastRun
  const path = isLast ? lastReportOf({ baseUrl, target }) : failed
  if (isLast && !existsSync(path))
    throw new UserError(
      '--failed: no earlier run of this target was found; run it first, or give its JSON report',
    )
  const ids = readReport(path)
    .report.requirements.filter(
      (result) => result.outcome === 'failed' || isLeftOut(result, 'interrupted', '--bail'),
    )
    .flatMap(neededBy)
  if (ids.length === 0) throw new UserError(`--failed: nothing failed in ${failed}`)
  return { ...options, only: [...new Set([...only, ...ids])] }
}

/** The ids that reproduce a failure: its own, and for passive requirements those whose responses showed it. */
export function neededBy(result: RequirementResult): string[] {
  return [
    result.id,
    ...result.failures.flatMap((failure) => failure.rerunIds ?? []).filter(findRequirement),
  ]
}

/** A variable, a path or a file name, such as a server's TLS key: not a secret itself. */
const isPlaceOfKey = /^["']?(?:\$|[./~])|\.(?:pem|key|p12|pfx|json|txt)["']?$/i

/** A command without what its words call a secret. */
function withoutSecrets(command: string): string {
  return (
    command
      .replaceAll(/(\w+)=('[^']*'|"[^"]*"|\S+)/g, (whole, name: string) =>
        isSecretName(name) ? `${name}=${labels.other}` : whole,
      )
      .replaceAll(
        /(--?[\w-]+\s+)(?!-)('[^']*'|"[^"]*"|\S+)/g,
        (whole, name: string, value: string) =>
          isSecretName(name) && !isPlaceOfKey.test(value) ? name + labels.other : whole,
      )
      // The password in a URL.
      .replaceAll(/(\w:\/\/[^\s:@/'"]*:)(?!\$)[^\s@/'"]+(?=@)/g, `$1${labels.other}`)
  )
}

export function runOptions(
  options: RunArguments,
  baseUrl: string | undefined,
  parts: Partial<Pick<RunOptions, 'expected' | 'exchangeLog'>> = {},
): RunOptions {
  const headers = Object.entries(options.header ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? printed.keys.text(value) : value,
  ])
  const again = rerunCommand({
    ...options,
    program: program(process),
    baseUrl,
    headers: Object.fromEntries(headers) as HeaderValues,
  })
  const chosenBy = options.failed === undefined ? undefined : ('--failed' as const)
  const { start } = options
  const endsTarget = start !== undefined
  const shown = start && withoutSecrets(printed.keys.text(start))
  const started = shown === undefined ? '' : ` --start ${shellWord(shown)}`
  const waited = options.wait === undefined ? '' : ` --wait ${options.wait}`
  return runOptionsOf({ ...options, ...parts, chosenBy, endsTarget }, again + started + waited)
}

/** Without a base URL and a target file, the embedded reference is judged. */
export const isEmbedded = (
  baseUrl: string | undefined,
  options: Pick<RunArguments, 'target'>,
): boolean => baseUrl === undefined && options.target === undefined

/** The target named by URL, file, or both; with neither, the embedded reference. */
export interface Named {
  readonly baseUrl: string | undefined
  readonly target?: string | undefined
}

/** Path of the last report of that target, in the user's cache folder. */
export function lastReportOf(one: Named): string {
  const named = JSON.stringify([one.baseUrl, one.target && resolve(one.target)])
  return join(keptIn(), `${createHash('sha256').update(named).digest('hex').slice(0, 32)}.json`)
}

function keptIn(): string {
  const { XDG_CACHE_HOME } = process.env
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'ai-content-conformance')
}

/**
 * Keeps a report, which has no keys, for `--failed` and `init --from`. One that judged nothing, and leaves nothing to run
 * again or to declare, does not replace another; failing to write it is ignored.
 */
export async function keepReport(report: Report, target: Named): Promise<void> {
  const { exit, run, verdict } = report
  const isEmpty = verdict === 'not-judged' && (exit.outside === true || isWithoutOutcome(report))
  if (isEmpty && !run.interrupted) return
  try {
    mkdirSync(keptIn(), { recursive: true, mode: 0o700 })
    await writeAtomically(lastReportOf(target), json(report))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

/** The report of the last run of any target; undefined if none is kept. */
export function newestReport(): string | undefined {
  const folder = keptIn()
  const paths = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  return paths
    .filter((path) => path.endsWith('.json'))
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0]
}

/**
 * The words that start this program as the user did, so that printed commands can be copied: npx does not put `conform`
 * on the path.
 */
export function program(process: Pick<NodeJS.Process, 'argv' | 'env'>): readonly string[] {
  const path = process.argv[1] ?? ''
  if (process.env['npm_command'] !== 'exec' || !/node_modules.*conform(?:\.js)?$/.test(path))
    return ['conform']
  return ['npx', path.includes('_npx') ? 'ai-content-conformance' : 'conform']
}
