import type { Words } from './words.ts'

/** If there is nothing to suggest, the shell completes file names. */
export function bashScript({ commands, run, values }: Words): string {
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
