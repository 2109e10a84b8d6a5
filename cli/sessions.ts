import { untilSignal } from './guard.ts'
import { Command } from '@commander-js/extra-typings'
import { UserError } from '../harness/user-error.ts'
import { addArguments, checkArguments, checkSession, portOption } from './run/arguments.ts'
import { startForSession } from './run/start-server.ts'
import { withChosenIds } from './run/options.ts'

export function watchCommand() {
  return addArguments(new Command('watch'))
    .description(
      'run, then again on a key press, when the target file changes, and when the target comes back',
    )
    .action(async (baseUrl, options) => {
      checkArguments(baseUrl, options, [])
      checkSession('watch', options)
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

export function uiCommand() {
  return addArguments(new Command('ui'))
    .description(
      'the same as watch, as a page on this machine: prints its address, and runs when it is opened',
    )
    .addOption(portOption())
    .action(async (baseUrl, options) => {
      checkArguments(baseUrl, options, [])
      checkSession('ui', options)
      const { startUi } = await import('./ui/ui.ts')
      const server = await startForSession(baseUrl, withChosenIds(options))
      server.handOverSignals()
      const ended = untilSignal()
      try {
        const ui = await startUi(baseUrl, server.options, options.port)
        process.stdout.write(`${ui.url}\nopen it in a browser; Ctrl-C ends it\n`)
        await ended
        await ui.close()
      } finally {
        await server.close()
      }
      process.exitCode = 0
    })
}
