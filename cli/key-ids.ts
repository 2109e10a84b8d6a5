import { InvalidArgumentError, Option } from 'commander'

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
