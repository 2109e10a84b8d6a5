import type { Words } from './words.ts'

/** If there is nothing to suggest, the shell completes file names. */
export function zshScript({ commands, run, values }: Words): string {
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
