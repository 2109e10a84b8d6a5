import { Argument, Command } from 'commander'
import { catalogue } from '../catalogue/catalogue.ts'
import { formatNames } from './output/files.ts'
import { addArguments } from './run/arguments.ts'

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** If there is nothing to suggest, the shell completes file names. */
function fishScript({ commands, run, values }: Words): string {
  const valuesOf = (option: string): string => {
    const list = values.find(([options]) => options.includes(option))?.[1]
    return list === undefined ? '' : ` -x -a ${quoted(list.join(' '))}`
  }
  const optionLine = (condition: string, option: string): string =>
    `complete -c conform -n ${quoted(condition)} -l ${option.slice(2)}${valuesOf(option)}`
  const first = '__fish_use_subcommand'
  const names = commands.map(({ name }) => name).join(' ')
  return `${[
    '# conform: completion for fish. Try it: conform completion fish | source',
    ...commands.map(({ name, about }) => `complete -c conform -n ${quoted(first)} -a ${name} -d ${quoted(about)}`),
    ...run.map((option) => optionLine(`not __fish_seen_subcommand_from ${names}`, option)),
    ...commands.flatMap(({ name, options, arguments: own }) => {
      const condition = `__fish_seen_subcommand_from ${name}`
      const words = own.length > 0 ? [`complete -c conform -n ${quoted(condition)} -f -a ${quoted(own.join(' '))}`] : []
      return [...options.map((option) => optionLine(condition, option)), ...words]
    }),
  ].join('\n')}\n`
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

export function completionCommand(commands: Readonly<Record<string, LoadCommand>>): Command {
  return new Command('completion')
    .description('print the completion of commands, options, ids and formats: source <(conform completion bash)')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .action(async (shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell](await wordsOf(commands)))
    })
}

/** If there is nothing to suggest, the shell completes file names. */
function bashScript({ commands, run, values }: Words): string {
  return `# conform: completion for bash. Try it: source <(conform completion bash)
_conform() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=''
  case "$before" in
${values.map(([options, words]) => `    ${options.join('|')}) words='${words.join(' ')}' ;;`).join('\n')}
    *)
      case "\${COMP_WORDS[1]}" in
${commands.map(({ name, options, arguments: own }) => `        ${name}) words='${[...options, ...own].join(' ')}' ;;`).join('\n')}
        *)
          words='${run.join(' ')}'
          ;;
      esac
      if [[ $COMP_CWORD -eq 1 ]]; then words='${[...commands.map(({ name }) => name), ...run].join(' ')}'; fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _conform conform
`
}

/** If there is nothing to suggest, the shell completes file names. */
function zshScript({ commands, run, values }: Words): string {
  const about = ({ name, about: text }: { name: string; about: string }): string =>
    `'${name}:${text.replaceAll("'", '’').replaceAll(':', '\\:')}'`
  return `#compdef conform
# conform: completion for zsh. Try it: source <(conform completion zsh)
_conform() {
  local -a choices
  case "$words[CURRENT-1]" in
${values.map(([options, list]) => `    ${options.join('|')}) choices=(${list.join(' ')}) ;;`).join('\n')}
    *)
      if (( CURRENT == 2 )) && [[ "$words[CURRENT]" != -* ]]; then
        choices=(${commands.map(about).join(' ')})
        _describe 'command' choices
        _files
        return
      fi
      case "$words[2]" in
${commands.map(({ name, options, arguments: own }) => `        ${name}) choices=(${[...options, ...own].join(' ')}) ;;`).join('\n')}
        *) choices=(${run.join(' ')}) ;;
      esac
      ;;
  esac
  compadd -- $choices
  [[ "$words[CURRENT]" == -* ]] || _files
}
if [[ "$funcstack[1]" == _conform ]]; then _conform "$@"; else compdef _conform conform; fi
`
}

type LoadCommand = () => Promise<Command>

/** Everything that a shell can complete. */
type Words = Awaited<ReturnType<typeof wordsOf>>

const ids: readonly string[] = catalogue.map(({ id }) => id)

/** Asks each command for its options, so that nothing is written down twice. */
async function wordsOf(commands: Readonly<Record<string, LoadCommand>>) {
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
    /** Options of a run: of `conform` without a command. */
    run: [...optionsOf(addArguments(new Command('conform'))), '--version'],
    /** Options that take a value from a list. */
    values: [
      [['--only', '--skip'], ids],
      [['--report'], formatNames],
      [['--tpe'], ['exact', 'family']],
      [['--require'], ['conformant']],
    ] as readonly (readonly [options: readonly string[], values: readonly string[]])[],
  }
}

function optionsOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), '--help']
}
