import { createInterface } from 'node:readline'

/** The keyboard and the screen of the user. */
export interface Terminal {
  /** Called with each character that is typed; Ctrl-C is `\x03`. */
  onKey(call: (key: string) => void): void
  /** Asks for a line, Tab completes it; undefined if none was given. Keys are not reported meanwhile. */
  ask(question: string, words: readonly string[]): Promise<string | undefined>
  /** Takes back a question. */
  stopAsking(): void
  /** Gives the terminal back as it was. */
  restore(): void
}

/** Takes the keyboard for itself: nothing that is typed is shown, and Ctrl-C is a key. */
export function openTerminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal {
  let call: (key: string) => void = () => undefined
  let asking: AbortController | undefined
  const onData = (text: string): void => {
    for (const key of text) call(key)
  }
  const take = (): void => {
    input.setRawMode(true)
    input.setEncoding('utf8').on('data', onData).resume()
  }
  const give = (): void => {
    input.off('data', onData)
    input.setRawMode(false)
    input.pause()
  }
  process.once('exit', give)
  take()
  return {
    onKey: (told) => void (call = told),
    async ask(question, words) {
      input.off('data', onData)
      asking = new AbortController()
      try {
        return await line(question, words, { input, output, signal: asking.signal })
      } finally {
        asking = undefined
        take()
      }
    },
    stopAsking: () => asking?.abort(),
    restore() {
      asking?.abort()
      process.off('exit', give)
      give()
    },
  }
}

interface Lines {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  readonly signal: AbortSignal
}

function line(question: string, words: readonly string[], { input, output, signal }: Lines) {
  const completer = (typed: string): [string[], string] => [words.filter((word) => word.startsWith(typed)), typed]
  const lines = createInterface({ input, output, completer, terminal: true })
  return new Promise<string | undefined>((resolve) => {
    const end = (answer?: string): void => {
      resolve(answer?.trim() === '' ? undefined : answer?.trim())
      lines.close()
    }
    signal.addEventListener('abort', () => end())
    lines.on('SIGINT', () => end()).on('close', () => resolve(undefined))
    lines.question(question, end)
  })
}
