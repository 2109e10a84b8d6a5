import { program, addGates, type OptionsOf } from './run/arguments.ts'
import { Command } from '@commander-js/extra-typings'
import { catalogue } from '../catalogue/catalogue.ts'
import { applyGates, count, foreignBaseline, readBaseline } from '../harness/report/index.ts'
import { shellWord } from '../harness/shell-word.ts'
import {
  redactorFor,
  type HeaderValue,
  type KeyValue,
  type TargetFile,
  baseUrlProblem,
  loadTargetFile,
  plainFile,
  resolveTarget,
} from '../harness/target/index.ts'
import { plannedReports } from '../library/output/files.ts'
import { tell, warnOf } from '../library/output/say.ts'
import { finish } from '../library/output/write-reports.ts'
import { terminalText } from '../reporters/escape.ts'
import { firstOf } from '../reporters/view/writing.ts'
import { likeliestBaseUrl } from './recording/exchange.ts'
import { countShown, judgeRecording, recordingReport } from './recording/judge.ts'
import { readHar } from './recording/read-har.ts'
import { learnSecrets } from './recording/secrets.ts'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UserError } from '../harness/user-error.ts'

export function checkCommand() {
  const command = new Command('check')
    .summary('judge recorded traffic')
    .description('judge recorded traffic (HAR 1.2) without a live target')
    .argument('<file.har>', 'the recording, up to 256 MiB; - is stdin')
    .option(
      '--base-url <url>',
      'the server to judge; default: baseUrl of the target file, or the most frequent URL before /v1/',
    )
    .option('-t, --target <file>', 'target file: operations not served, and keys to hide')
  return addGates(command).action(async (file, options) => {
    const { baseline, target } = options
    const inputs = { 'the recording': file, 'the target file': target, 'the baseline': baseline }
    const { requests, people } = plannedReports(options.report, inputs)
    const say = (line: string): void => tell(people, [terminalText(line)])
    const { report, entries, warnings, exchanges } = await checkFile(file, options, new Date(), say)
    for (const warning of warnings) warnOf(warning)
    const before = [`${report.run.requests} of ${entries} entries judged`]
    await finish(report, { requests, exchanges, people, before })
  })
}

/**
 * Judges a HAR file. Throws UserError if the file is not a HAR.
 * @param say gets, before judging, how much a recording can show
 */
export async function checkFile(
  file: string,
  options: Partial<OptionsOf<typeof checkCommand>>,
  now: Date,
  say: (line: string) => void = () => undefined,
) {
  const { entries, unreadable } = await readHar(file)
  const { target, warnings } = await recordedTarget(options, () => likeliestBaseUrl(entries))
  const { baseline, baseUrl, target: path, tpe } = options
  const ofBaseline = baseline === undefined ? [] : foreignBaseline(readBaseline(baseline), target)
  say(`a recording can show at most ${countShown(target)} of ${catalogue.length} requirements`)
  const redactor = redactorFor(target)
  learnSecrets(redactor, entries)
  const judged = judgeRecording(entries, target, redactor)
  const given = {
    '--base-url': baseUrl,
    '--target': path,
    '--tpe': tpe === 'family' ? tpe : undefined,
  }
  const words = Object.entries(given).flatMap(([option, value]) =>
    value === undefined ? [] : [option, value],
  )
  // Reproduces failures, without a key.
  const rerun = [...program(process), 'check', file, ...words].map(shellWord).join(' ')
  const facts = { target, redactor, judged, entries, rerun, now }
  const report = applyGates(recordingReport(facts), options, now)
  return {
    report,
    entries: entries.length,
    warnings: [...warnings, ...unreadableEntries(unreadable), ...ofBaseline],
    exchanges: () => judged.exchanges(),
  }
}

function unreadableEntries(places: readonly string[]): string[] {
  if (places.length === 0) return []
  const named = firstOf(places, 3).join(', ')
  return [`${count(places.length, 'entry', 'entries')} could not be read (HAR 1.2): ${named}`]
}

const nowhere = 'http://recording.invalid'

/**
 * The target of a recording, from a target file, a base URL, both, or the recording itself; and warnings.
 * @param derive finds the base URL in the recording if none is given
 */
export async function recordedTarget(
  options: { readonly target?: string; readonly baseUrl?: string },
  derive: () => string | undefined,
) {
  const problem = options.baseUrl === undefined ? undefined : baseUrlProblem(options.baseUrl)
  if (problem !== undefined) throw new UserError(`--base-url: ${problem}`)
  const { file, dir } = await loadTargetFile(options.target)
  const address = options.baseUrl ?? file.baseUrl ?? derive() ?? nowhere
  // Nothing is sent, so only keys that can be in the recording matter, and only if they can be read without running
  // code.
  const atHand = plainFile(file, (value) =>
    isAtHand(value, dir) ? value : undefined,
  ) as TargetFile
  const { target, warnings } = await resolveTarget(atHand, {
    ...{ dir, source: options.target, baseUrl: address },
    env: environment(),
  })
  const unknown = { name: file.name ?? 'recording', baseUrl: '' }
  return {
    target: address === nowhere ? { ...target, ...unknown } : target,
    warnings,
  }
}

function isAtHand(value: KeyValue | HeaderValue, dir: string): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'function' || 'command' in value) return false
  return 'env' in value || existsSync(resolve(dir, value.file))
}

/** An environment in which every variable has a value: unset ones are never sent, so any value will do. */
function environment(): Readonly<Record<string, string | undefined>> {
  const unset = `unset-${randomUUID()}`
  return new Proxy(process.env, {
    get: (env, name) => (typeof name === 'string' && env[name]) || unset,
  })
}
