import { existsSync } from 'node:fs'
import { catalogue, isRequirementId } from '../../catalogue/catalogue.ts'
import { matchesId, patternProblem } from '../../harness/report/selection.ts'
import { UserError } from '../../harness/user-error.ts'
import { idMeant, nearest } from '../../harness/target/nearest.ts'
import type { RunArguments } from './arguments.ts'
import { parseReportRequests, takesStdout } from '../output/report-request.ts'

/** What commander cannot see: patterns without a requirement, and options that go together. Throws UserError. */
export function checkArguments(baseUrl: string | undefined, options: RunArguments, commands: readonly string[]): void {
  checkBaseUrl(baseUrl, commands)
  checkPatterns('--only', options.only)
  checkPatterns('--skip', options.skip)
  if (options.shard && options.seed === undefined) {
    throw new UserError('--shard: needs --seed, the same for all shards, so that their reports can be merged')
  }
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
    throw new UserError(`${option}: needs the base URL at which the server will answer, or a target file that has it`)
}

/** A word in the place of the URL that is a command with a slip, or a file. */
function checkBaseUrl(word: string | undefined, commands: readonly string[]): void {
  if (word === undefined) return
  const meant = nearest(word, commands)
  if (meant !== undefined) throw new UserError(`${word}: not a command and not a URL; did you mean conform ${meant}?`)
  if (isRequirementId(word)) {
    throw new UserError(
      `${word} is a requirement, and no URL; did you mean conform explain ${word}, or conform <base_url> --only ${word}?`,
    )
  }
  if (/\.(json|[mc]?[jt]s|har)$/.test(word) && !word.includes('://')) {
    const option = word.endsWith('.har') ? 'check' : '--target'
    const what = existsSync(word) ? 'is a file, and no URL' : 'is no URL'
    throw new UserError(`${word} ${what}; did you mean conform ${option} ${word}?`)
  }
}

function checkPatterns(option: string, patterns: readonly string[]): void {
  for (const pattern of patterns) {
    const problem = patternProblem(pattern)
    if (problem !== undefined) throw new UserError(`${option}: ${problem}`)
    if (catalogue.some(({ id }) => matchesId(id, pattern))) continue
    throw new UserError(`${option} ${pattern}: no requirement has such an id${idMeant(pattern)}`)
  }
}

/** What a run can do and several in a row cannot. Throws UserError. */
export function checkSession(command: 'watch' | 'ui', options: RunArguments): void {
  const once: readonly [option: string, isGiven: boolean, remedy: string][] = [
    ['--dry-run', options.dryRun === true, 'use conform --dry-run'],
    ['--update-baseline', options.updateBaseline === true, 'use conform --update-baseline'],
    ['--report to stdout', takesStdout(parseReportRequests(options.report)), 'give the report a file'],
  ]
  for (const [option, isGiven, remedy] of once) {
    if (isGiven) throw new UserError(`${option} is not for conform ${command}, which runs again and again: ${remedy}`)
  }
}
