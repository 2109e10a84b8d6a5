import { Command } from 'commander'
import { UserError } from '../harness/user-error.ts'
import { addArguments, type RunArguments, checkArguments, checkSession } from './run/arguments.ts'
import { startForSession } from './run/start-server.ts'
import { withFailedOnes } from './run/run-options.ts'

export function watchCommand(): Command {
  return addArguments(new Command('watch'))
    .description('run, then again on a key press, when the target file changes, and when the target comes back')
    .action(async (baseUrl: string | undefined, options: RunArguments) => {
      checkArguments(baseUrl, options, [])
      checkSession('watch', options)
      if (!process.stdin.isTTY || !process.stdout.isTTY) {
        throw new UserError('conform watch needs a terminal, for its keys; without one use conform')
      }
      const { watch } = await import('./watch/watch.ts')
      const server = await startForSession(baseUrl, withFailedOnes(options))
      try {
        await watch(baseUrl, server.options)
      } finally {
        await server.close()
      }
    })
}
