import { Command } from '@commander-js/extra-typings'
import { UserError } from '../harness/user-error.ts'
import { addArguments, checkArguments, checkSession } from './run/arguments.ts'
import { startForSession } from './run/start-server.ts'
import { withChosenIds } from './run/options.ts'

export function watchCommand() {
  return addArguments(new Command('watch'))
    .description(
      'run, then again on a key press, when the target file changes, and when the target comes back',
    )
    .action(async (baseUrl, options) => {
      checkArguments(baseUrl, options, [])
      checkSession(options)
      if (!process.stdin.isTTY || !process.stdout.isTTY) {
        throw new UserError(
          'conform watch reads keys from a terminal, and there is none; run conform instead',
        )
      }
      const { watch } = await import('./watch/watch.ts')
      const server = await startForSession(baseUrl, withChosenIds(options))
      try {
        await watch(baseUrl, server.options)
      } finally {
        await server.close()
      }
    })
}
