import { debuglog } from 'node:util'
import { Command, CommanderError } from 'commander'
import { UserError } from '../harness/user-error.ts'
import { checkCommand } from './check.ts'
import { compareCommand } from './compare.ts'
import { initCommand } from './init.ts'
import { keygenCommand } from './keygen.ts'
import { listCommand } from './list.ts'
import { mergeCommand } from './merge.ts'
import { addRunOptions, runAction } from './run.ts'
import { serveCommand } from './serve.ts'
import { signCommand } from './sign.ts'
import { suiteVersion } from './suite-version.ts'
import { verifyCommand } from './verify.ts'

const debug = debuglog('conform')

const makers = [
  serveCommand,
  initCommand,
  listCommand,
  checkCommand,
  mergeCommand,
  compareCommand,
  keygenCommand,
  signCommand,
  verifyCommand,
]

function program(): Command {
  const conform = new Command('conform')
    .description('judges a server of the AI Content Service interface, requirement by requirement')
    .version(suiteVersion(), '-V, --version')
    .enablePositionalOptions()
    .helpCommand(true)
  addRunOptions(conform).action(runAction)
  for (const make of makers) conform.addCommand(make())
  for (const command of [conform, ...conform.commands]) {
    command
      .exitOverride((error) => {
        // commander has printed its sentence; help and version are no errors.
        process.exitCode = error.exitCode === 0 ? 0 : wrongUsage(command)
        throw error
      })
      .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'conform: ')) })
      .showHelpAfterError(`(conform ${command === conform ? '' : `${command.name()} `}--help says more)`)
  }
  return conform
}

/** `verify` knows valid and not valid only: whatever keeps it from saying valid is 1. */
function wrongUsage(command: Command): 1 | 2 {
  return command.name() === 'verify' ? 1 : 2
}

/** Runs the command line: sets the exit code, prints a user's mistake as one sentence, and never a stack. */
export async function main(argv: readonly string[]): Promise<void> {
  // Whoever reads has read enough (`conform list | head`).
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  process.on('uncaughtException', (error) => {
    sayMistake(error)
    // eslint-disable-next-line no-restricted-properties -- what state things are in is not known
    process.exit()
  })
  try {
    await program().parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) return
    if (error instanceof UserError) {
      process.stderr.write(`conform: ${error.message}\n`)
      process.exitCode = 2
      return
    }
    sayMistake(error)
  }
}

/** What nobody foresaw says nothing of the target: it could not be judged. */
function sayMistake(error: unknown): void {
  debug('%o', error)
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`conform: a mistake of the suite: ${message} (NODE_DEBUG=conform shows where)\n`)
  process.exitCode = 3
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
