import { onTestFinished } from 'vitest'
import { type Running, start } from '../cli/conform.ts'

/** `conform ui` that runs, and the address that it printed. */
export async function startPage(
  args: readonly string[],
  cwd?: string,
): Promise<{ url: string; ui: Running }> {
  const ui = start(['ui', ...args], cwd === undefined ? {} : { cwd })
  onTestFinished(() => void ui.child.kill('SIGKILL'))
  return { url: await ui.firstLine, ui }
}

/** Everything that the events say until the run has ended. */
export async function eventsUntilEnd(url: string): Promise<string> {
  const response = await fetch(`${url}events?after=0`)
  let text = ''
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece
    if (/"text":"Ended at/.test(text)) return text
  }
  throw new Error(`the events ended: ${text.slice(-200)}`)
}
