import { Option } from 'commander'

/** `--report`, repeatable, of a command that writes these formats. */
export function reportOption(formats: readonly string[]): Option {
  return new Option('--report <format>[=<path>]', `${formats.join(', ')}; repeatable, - is stdout`)
    .argParser((value, before: string[]) => [...before, value])
    .default([], 'none')
}
