import { randomUUID } from 'node:crypto'
import { program, addGates, type OptionsOf } from './run/arguments.ts'
import { Command } from '@commander-js/extra-typings'
import { catalogue } from '../catalogue/catalogue.ts'
import {
  count,
  decided,
  foreignBaseline,
  readBaseline,
  withBaseline,
} from '../harness/report/index.ts'
import { Redactor } from '../harness/recording/redactor.ts'
import { shellWord } from '../harness/shell-word.ts'
import {
  type HeaderValue,
  type KeyValue,
  type TargetFile,
  loadTargetFile,
  plainFile,
  resolveTarget,
} from '../harness/target/index.ts'
import { plannedReports, tell, warnOf, finish } from '../library/output.ts'
import { firstOf } from '../reporters/text.ts'
import { likeliestBaseUrl, learnSecrets } from './recording/exchange.ts'
import { countShown, judgeRecording } from './recording/judge.ts'
import { readHar, type RecordedEntry } from './recording/read-har.ts'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

export function command() {
  const base = new Command('check')
    .description('judge recorded traffic (HAR 1.2) without a live target')
    .argument('<file.har>', 'the recording, up to 256 MiB; - is stdin')
    .option(
      '--base-url <url>',
      'the server to judge; default: baseUrl of the target file, or the most frequent URL before /v1/',
    )
    .option(
      '-t, --target <file>',
      'target file: operations not served, what refusals are recognised by, and keys to hide',
    )
  return addGates(base).action(async (file, options) => {
    const { baseline, target } = options
    const inputs = { 'the recording': file, 'the target file': target, 'the baseline': baseline }
    const { requests, people } = plannedReports(options.report, inputs)
    const checked = await checkFile(file, options, new Date())
    const { report, target: judged, recorded, warnings, exchanges } = checked
    for (const warning of warnings) warnOf(warning)
    tell(people, [
      `a recording can show at most ${countShown(judged)} of ${catalogue.length} requirements`,
      `${report.run.requests} of ${recorded} entries judged`,
    ])
    await finish(report, { requests, exchanges, people })
  })
}

/** Judges a HAR file of so many `recorded` entries. Throws UserError if the file is not a HAR. */
export async function checkFile(
  file: string,
  options: Partial<OptionsOf<typeof command>>,
  now: Date,
) {
  const { entries, unreadable } = await readHar(file)
  const { target, warnings } = await recordedTarget(options, entries)
  const { baseUrl, target: path, tpe, strict, requireExercised } = options
  const redactor = new Redactor(target)
  learnSecrets(redactor, entries)
  const words = [...program(process), 'check', file]
  if (baseUrl !== undefined) words.push('--base-url', baseUrl)
  if (path !== undefined) words.push('--target', path)
  if (tpe === 'family') words.push('--tpe', tpe)
  const rerun = words.map(shellWord).join(' ')
  const recording = { entries, target, redactor, rerun, now, tpe, strict }
  const { report, exchanges } = judgeRecording(recording)
  const baseline = options.baseline === undefined ? undefined : readBaseline(options.baseline)
  const places = firstOf(unreadable, 3).join(', ')
  const remarks = [
    ...(places === ''
      ? []
      : [`${count(unreadable.length, 'entry', 'entries')} could not be read (HAR 1.2): ${places}`]),
    ...(baseline ? foreignBaseline(baseline, target) : []),
  ]
  return {
    report: decided(baseline ? withBaseline(report, baseline, now) : report, { requireExercised }),
    target,
    recorded: entries.length,
    warnings: [...warnings, ...remarks],
    exchanges,
  }
}

/** The target of a recording, from a target file, a base URL, both, or the recording itself; and warnings. */
async function recordedTarget(
  options: { readonly target?: string; readonly baseUrl?: string },
  entries: readonly RecordedEntry[],
) {
  const { file, dir } = await loadTargetFile(options.target)
  const baseUrl =
    options.baseUrl ?? file.baseUrl ?? likeliestBaseUrl(entries) ?? 'http://recording.invalid'
  // Variables that are not set are never sent: any value will do.
  const env = new Proxy(process.env, {
    get: (all, name) => all[String(name)] || `unset-${randomUUID()}`,
  })
  // Nothing is sent, so only keys that can be in the recording matter, and only if they can be read without running
  // code.
  const atHand = plainFile(file, (value) =>
    isAtHand(value, dir) ? value : undefined,
  ) as TargetFile
  return resolveTarget(atHand, { dir, source: options.target, baseUrl, env })
}

function isAtHand(value: KeyValue | HeaderValue, dir: string): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'function' || 'command' in value) return false
  return 'env' in value || existsSync(resolve(dir, value.file))
}
