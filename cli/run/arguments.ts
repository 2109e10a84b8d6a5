import {
  type Command,
  type OptionValues,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings'
import { rateOf } from '../../harness/report/index.ts'
import { headerProblem, type HeaderValues } from '../../harness/target/index.ts'
import { UserError } from '../../harness/user-error.ts'
import { patternMistake } from '../../library/options.ts'
import { formatNames } from '../../reporters/index.ts'

export type OptionsOf<Make extends () => { opts(): unknown }> = ReturnType<ReturnType<Make>['opts']>

export type RunArguments = ReturnType<ReturnType<typeof addArguments>['opts']>

function requestsPerSecond(text: string): number {
  const rate = rateOf(text)
  if (rate === undefined)
    throw new InvalidArgumentError(
      'Give requests per second, or per minute as in 60/min; 0 for no limit.',
    )
  return rate
}

export function addArguments(command: Command) {
  return command
    .argument('[base_url]', 'the server to judge')
    .option('-t, --target <file>', 'target file: JSON, or a module (conform init)')
    .option('-k, --key <key>', 'API key (prefer CONFORM_API_KEY: not in ps)')
    .option('--start <command>', 'start the server with this command; stop it')
    .option('--wait <ms>', 'how long to wait for it (--start: 30000)', whole(1, 3_600_000))
    .addOption(headerOption())
    .option('--insecure', 'accept invalid TLS certificates')
    .addOption(repeatable('--only <pattern>', 'ids to run; * is any characters; repeatable'))
    .addOption(repeatable('--skip <pattern>', 'ids to leave out; repeatable'))
    .option('--failed [report.json]', 'rerun failures of that report, or last run')
    .option('--read-only', 'send nothing that creates or generates')
    .addOption(
      new Option('--depth <depth>', 'full, or quick: one case of each kind')
        .choices(['full', 'quick'] as const)
        .default('full' as const),
    )
    .option('--runs <n>', 'generated cases: 25 a refusal, 5 a grant', whole(1, 100_000))
    .option('--seed <int>', 'seed of generated inputs', whole(-2147483648, 2147483647))
    .option('--strict', 'exit 1 also if a recommendation failed')
    .addOption(tpeOption().default('exact' as const))
    .option('--require-exercised', 'exit 1 also for untested required checks')
    .option('--baseline <file>', 'expected failures: a report, or a list')
    .option('--update-baseline', 'rewrite the baseline from this run')
    .option('--bail [n]', 'stop at the first or n-th failed required check', whole(1, 100_000))
    .option('--concurrency <n>', 'requests under way at once', whole(1, 256))
    .option('--rate <n>', 'requests per second, or 60/min; 0: no limit', requestsPerSecond)
    .option('--timeout <ms>', 'time for one whole exchange', whole(1, 3_600_000))
    .addOption(reportOption(formatNames))
    .option('--verbose', 'every failure, case and reason')
    .option('--dry-run', 'print the number of requests, send none')
}

/** Checks what commander cannot: patterns that match nothing, and options that go together. Throws UserError. */
export function checkArguments(baseUrl: string | undefined, options: RunArguments): void {
  checkPatterns('--only', options.only)
  checkPatterns('--skip', options.skip)
  checkStart(baseUrl, options)
  if (options.updateBaseline && options.baseline === undefined) {
    throw new UserError('--update-baseline: needs --baseline <file>, the file to write')
  }
}

function checkStart(baseUrl: string | undefined, { start, target, wait }: RunArguments): void {
  const option = start === undefined ? '--wait' : '--start'
  if (start === undefined && wait === undefined) return
  if (start?.trim() === '') throw new UserError('--start: give the command that starts the server')
  if (baseUrl === undefined && target === undefined)
    throw new UserError(`${option}: give the base URL of the server, or a target file with one`)
}

function checkPatterns(option: string, patterns: readonly string[]): void {
  const mistake = patterns.map(patternMistake).find((found) => found !== undefined)
  if (mistake !== undefined) throw new UserError(`${option}: ${mistake}`)
}

/** `--port <n>` on the loopback address; default: any free port. */
export function portOption() {
  return new Option('--port <n>', 'port on the loopback address; 0 means any free one')
    .argParser(whole(0, 65_535))
    .default(0)
}

export function listenedOn<T>(port: number, listening: Promise<T>): Promise<T> {
  return listening.catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UserError(
      `--port ${port}: cannot be used (${code ?? message}); give another, or 0 for any`,
    )
  })
}

function headerOption() {
  const meaning = "with every request; 'name: env:NAME'; repeatable"
  return new Option("--header <'name: value'>", meaning).argParser(headers).default({}, 'none')
}

function headers(line: string, before: HeaderValues): HeaderValues {
  const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
  if (name === undefined)
    throw new InvalidArgumentError("Give it as 'name: value', or 'name: env:NAME'.")
  const [, env] = /^env:(\w+)$/.exec(value) ?? []
  const given: HeaderValues = { [name]: env === undefined ? value : { env } }
  const text = env === undefined ? value : ''
  const problem = headerProblem(name, text, 'give the key by CONFORM_API_KEY')
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`)
  const others = Object.entries(before).filter(
    ([other]) => other.toLowerCase() !== name.toLowerCase(),
  )
  return { ...Object.fromEntries(others), ...given }
}

export function repeatable<const Flags extends string>(flags: Flags, meaning: string) {
  return new Option(flags, meaning)
    .argParser((value, before: readonly string[]): readonly string[] => [...before, value])
    .default([] as readonly string[], 'none')
}

export function reportOption(formats: readonly string[]) {
  return repeatable('--report <format>[=<path>]' as '--report <format>', formats.join(', '))
}

/** Adds the options that decide the exit code, and reports, to a command that judges existing data. */
export function addGates<Args extends unknown[], Opts extends OptionValues>(
  command: Command<Args, Opts>,
  formats: readonly string[],
  baseline = 'expected failures: a report, or {"expected": [...]}',
) {
  return command
    .addOption(reportOption(formats))
    .option('--baseline <file>', baseline)
    .option('--strict', 'exit 1 also if a recommendation failed')
    .option('--require-exercised', 'exit 1 also for untested required checks')
    .addOption(tpeOption())
}

function tpeOption() {
  return new Option('--tpe <mode>', 'exact, or family: any code name of the status').choices([
    'exact',
    'family',
  ] as const)
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
