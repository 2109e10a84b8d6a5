import { InvalidArgumentError, Option } from 'commander'
import { headerProblems } from '../../harness/target-file/headers.ts'
import type { HeaderValues } from '../../harness/target-file/target-file.ts'

/** `--port <n>` on the loopback address, any free one if not given. */
export function portOption(): Option {
  return new Option('--port <n>', 'port on the loopback address; 0 is any free one').argParser(port).default(0)
}

function port(text: string): number {
  const number = Number(text)
  if (!/^\d{1,5}$/.test(text) || number > 65535) throw new InvalidArgumentError('Give a port from 0 to 65535.')
  return number
}

/** `--key-id`, repeatable. */
export function keyIdOption(meaning: string): Option {
  return new Option('--key-id <id>', meaning).argParser(keyIds).default([], 'none')
}

function keyIds(value: string, before: readonly string[]): string[] {
  if (!/^sha256:[0-9a-f]{64}$/.test(value)) {
    throw new InvalidArgumentError('Give it as conform keygen prints it: sha256: and 64 hexadecimal digits.')
  }
  return [...before, value]
}

/** `--header`, repeatable. */
export function headerOption(): Option {
  const meaning = "header sent with every request: 'name: value', or 'name: env:NAME'; repeatable"
  return new Option("--header <'name: value'>", meaning).argParser(headers).default({}, 'none')
}

function headers(line: string, before: HeaderValues): HeaderValues {
  const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
  if (name === undefined) throw new InvalidArgumentError("Give it as 'name: value', or 'name: env:NAME'.")
  const [, env] = /^env:(\w+)$/.exec(value) ?? []
  const given: HeaderValues = { [name]: env === undefined ? value : { env } }
  const [problem] = headerProblems(given, 'give the key by CONFORM_API_KEY')
  if (problem) throw new InvalidArgumentError(`It ${problem[1]}.`)
  const others = Object.entries(before).filter(([other]) => other.toLowerCase() !== name.toLowerCase())
  return { ...Object.fromEntries(others), ...given }
}

/** An option that may be given several times: its values are a list. */
export function repeatable(flags: string, meaning: string): Option {
  return new Option(flags, meaning).argParser((value, before: string[]) => [...before, value]).default([], 'none')
}

/** `--report`, repeatable, of a command that writes these formats. */
export function reportOption(formats: readonly string[]): Option {
  return repeatable('--report <format>[=<path>]', `${formats.join(', ')}; repeatable, - is stdout`)
}

/** A whole number in that range, or a sentence that says so. */
export function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text)
    if (!/^-?\d+$/.test(text) || number < least || number > most) {
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`)
    }
    return number
  }
}
