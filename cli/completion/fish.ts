import type { Words } from './words.ts'

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** If there is nothing to suggest, the shell completes file names. */
export function fishScript({ commands, run, values }: Words): string {
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
