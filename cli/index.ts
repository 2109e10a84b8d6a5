import { Command, CommanderError } from 'commander'
import { UserError } from '../harness/user-error.ts'
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

function program(): Command {
  const conform = new Command('conform')
    .description('judges a server of the AI Content Service interface, requirement by requirement')
    .version(suiteVersion(), '-V, --version')
    .enablePositionalOptions()
    .showHelpAfterError('(conform --help lists the options)')
  addRunOptions(conform).action(runAction)
  const commands = [
    serveCommand,
    initCommand,
    listCommand,
    mergeCommand,
    compareCommand,
    keygenCommand,
    signCommand,
    verifyCommand,
  ]
  for (const command of commands) conform.addCommand(command())
  for (const command of [conform, ...conform.commands]) command.exitOverride()
  return conform
}

/** Runs the command line: sets the exit code, prints a user's mistake as one sentence, and never a stack. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) {
      // commander has printed its sentence; help and version are no errors.
      process.exitCode = error.exitCode === 0 ? 0 : 2
    } else if (error instanceof UserError) {
      process.stderr.write(`conform: ${error.message}\n`)
      process.exitCode = 2
    } else throw error
  }
}
