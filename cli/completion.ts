import { Argument, Command } from 'commander'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { type LoadCommand, wordsOf } from './completion/words.ts'
import { zshScript } from './completion/zsh.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

export function completionCommand(commands: Readonly<Record<string, LoadCommand>>): Command {
  return new Command('completion')
    .description('print the completion of commands, options, ids and formats: source <(conform completion bash)')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .action(async (shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell](await wordsOf(commands)))
    })
}
