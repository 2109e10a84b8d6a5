import { Command } from 'commander'
import { catalogue } from '../../catalogue/catalogue.ts'
import { formatNames } from '../output/report-request.ts'
import { addArguments } from '../run/arguments.ts'

export type LoadCommand = () => Promise<Command>

/** A command, the options that it has, and the words that its argument may be. */
export interface CommandWords {
  readonly name: string
  readonly about: string
  readonly options: readonly string[]
  readonly arguments: readonly string[]
}

/** Everything that a shell can complete. */
export interface Words {
  readonly commands: readonly CommandWords[]
  /** Options of a run: of `conform` without a command. */
  readonly run: readonly string[]
  /** Options that take a value from a list. */
  readonly values: readonly (readonly [options: readonly string[], values: readonly string[]])[]
}

const ids: readonly string[] = catalogue.map(({ id }) => id)

/** Asks each command for its options, so that nothing is written down twice. */
export async function wordsOf(commands: Readonly<Record<string, LoadCommand>>): Promise<Words> {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()))
  const names = [...Object.keys(commands), 'help']
  const argumentsOf: Readonly<Record<string, readonly string[]>> = {
    explain: ids,
    list: ids,
    help: names,
    completion: ['bash', 'zsh', 'fish'],
  }
  return {
    commands: [...loaded, new Command('help').description('more about a command').helpOption(false)].map((command) => ({
      name: command.name(),
      about: command.description(),
      options: optionsOf(command),
      arguments: argumentsOf[command.name()] ?? [],
    })),
    run: [...optionsOf(addArguments(new Command('conform'))), '--version'],
    values: [
      [['--only', '--skip'], ids],
      [['--report'], formatNames],
      [['--tpe'], ['exact', 'family']],
      [['--require'], ['conformant']],
    ],
  }
}

function optionsOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), '--help']
}
