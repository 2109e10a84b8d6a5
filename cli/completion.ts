import { Argument, Command, type CommandUnknownOpts } from '@commander-js/extra-typings'
import { catalogue } from '../catalogue/catalogue.ts'
import { formatNames } from '../reporters/index.ts'
import { addArguments } from './run/arguments.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

type LoadCommand = () => Promise<CommandUnknownOpts>

export function completionCommand(commands: Readonly<Record<string, LoadCommand>>) {
  return new Command('completion')
    .description(
      'print the completion of commands, options, ids and formats: source <(conform completion bash)',
    )
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish'] as const))
    .action(async (shell) => {
      process.stdout.write(scripts[shell](await wordsOf(commands)))
    })
}

type Words = Awaited<ReturnType<typeof wordsOf>>

async function wordsOf(commands: Readonly<Record<string, LoadCommand>>) {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()))
  const help = new Command('help').description('more about a command').helpOption(false)
  const ids: readonly string[] = catalogue.map(({ id }) => id)
  const argumentsOf: Readonly<Record<string, readonly string[]>> = {
    explain: ids,
    list: ids,
    help: [...Object.keys(commands), 'help'],
    completion: Object.keys(scripts),
  }
  const optionsOf = ({ options }: CommandUnknownOpts): string[] => [
    ...options.flatMap(({ long }) => long ?? []),
    '--help',
  ]
  const run = addArguments(new Command('conform'))
  const chosen = [run, ...loaded].flatMap(({ options }) =>
    options.filter(({ argChoices }) => argChoices),
  )
  return {
    commands: [...loaded, help].map((command) => ({
      name: command.name(),
      about: command.description(),
      options: optionsOf(command),
      arguments: argumentsOf[command.name()] ?? [],
    })),
    run: [...optionsOf(run), '--version'],
    values: {
      ...{ '--only': ids, '--skip': ids, '--report': formatNames },
      ...Object.fromEntries(chosen.map(({ long, argChoices }) => [long!, argChoices!])),
    } as Readonly<Record<string, readonly string[]>>,
  }
}

function cases({ commands, run, values }: Words, assign: (words: readonly string[]) => string) {
  const line = (name: string, words: readonly string[]): string =>
    `    ${name}) ${assign(words)} ;;`
  return {
    values: Object.entries(values)
      .map(([option, words]) => line(option, words))
      .join('\n'),
    commands: [
      ...commands.map(({ name, options, arguments: own }) => line(name, [...options, ...own])),
      line('*', run),
    ].join('\n'),
  }
}

function bashScript(words: Words): string {
  const { commands, values } = cases(words, (list) => `words='${list.join(' ')}'`)
  return `# conform: completion for bash. Try it: source <(conform completion bash)
_conform() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=''
  case "\${COMP_WORDS[1]}" in
${commands}
  esac
  if [[ $COMP_CWORD -eq 1 ]]; then words='${[...words.commands.map(({ name }) => name), ...words.run].join(' ')}'; fi
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${values}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _conform conform
`
}

function zshScript(words: Words): string {
  const about = words.commands.map(
    ({ name, about: text }) => `'${name}:${text.replaceAll("'", '’').replaceAll(':', '\\:')}'`,
  )
  const { commands, values } = cases(words, (list) => `choices=(${list.join(' ')})`)
  return `#compdef conform
# conform: completion for zsh. Try it: source <(conform completion zsh)
_conform() {
  local -a choices
  if (( CURRENT == 2 )) && [[ "$words[CURRENT]" != -* ]]; then
    choices=(${about.join(' ')})
    _describe 'command' choices
    _files
    return
  fi
  case "$words[2]" in
${commands}
  esac
  case "$words[CURRENT-1]" in
${values}
  esac
  compadd -- $choices
  [[ "$words[CURRENT]" == -* ]] || _files
}
if [[ "$funcstack[1]" == _conform ]]; then _conform "$@"; else compdef _conform conform; fi
`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fishScript({ commands, run, values }: Words): string {
  const line = (condition: string, rest: string): string =>
    `complete -c conform -n ${quoted(condition)} ${rest}`
  const option = (condition: string) => (name: string) => {
    const list = values[name]
    return line(
      condition,
      `-l ${name.slice(2)}${list === undefined ? '' : ` -x -a ${quoted(list.join(' '))}`}`,
    )
  }
  const names = commands.map(({ name }) => name).join(' ')
  return `${[
    '# conform: completion for fish. Try it: conform completion fish | source',
    ...commands.map(({ name, about }) =>
      line('__fish_use_subcommand', `-a ${name} -d ${quoted(about)}`),
    ),
    ...run.map(option(`not __fish_seen_subcommand_from ${names}`)),
    ...commands.flatMap(({ name, options, arguments: own }) => {
      const condition = `__fish_seen_subcommand_from ${name}`
      const words = own.length > 0 ? [line(condition, `-f -a ${quoted(own.join(' '))}`)] : []
      return [...options.map(option(condition)), ...words]
    }),
  ].join('\n')}\n`
}
