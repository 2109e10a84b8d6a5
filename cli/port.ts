import { InvalidArgumentError, Option } from 'commander'

/** `--port <n>` on the loopback address, any free one if not given. */
export function portOption(): Option {
  return new Option('--port <n>', 'port on the loopback address; 0 is any free one').argParser(port).default(0)
}

function port(text: string): number {
  const number = Number(text)
  if (!/^\d{1,5}$/.test(text) || number > 65535) throw new InvalidArgumentError('Give a port from 0 to 65535.')
  return number
}
