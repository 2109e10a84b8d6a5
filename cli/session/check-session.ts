import { UserError } from '../../harness/user-error.ts'
import { parseReportRequests, takesStdout } from '../output/report-request.ts'
import type { RunArguments } from '../run/arguments.ts'

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
