import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import { passOn, startRaw } from '../support/raw-server.ts'
import { bin } from './conform.ts'

const script = '/usr/bin/script'

/** Whether a command can be given a terminal here. */
export const hasTerminals = existsSync(script)
if (!hasTerminals)
  process.stderr.write(
    `SKIPPED: conform watch is not tried on a terminal, ${script} is not there\n`,
  )

export interface OnTerminal {
  /** Settles when the terminal has shown that text since the last time, or fails with what it has shown. */
  shows(text: string): Promise<void>
  types(keys: string): void
  /** The exit code, and all that was shown. */
  readonly ended: Promise<{ code: number | null; shown: string }>
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

export function onTerminal(args: readonly string[], cwd: string): OnTerminal {
  const command = [
    'stty -g',
    [process.execPath, bin, ...args].map(quoted).join(' '),
    'code=$?',
    'stty -g',
    'exit $code',
  ]
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(script, ['-qefc', command.join('; '), '/dev/null'], {
    cwd,
    env: { PATH, HOME, NO_COLOR: '1', TERM: 'xterm' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  let seen = 0
  let hasEnded = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
  child.on('close', () => (hasEnded = true))
  return {
    async shows(text) {
      const told = () => shown.slice(seen)
      // What has ended shows no more.
      await expect.poll(() => (hasEnded ? text : told())).toContain(text)
      expect(told()).toContain(text)
      seen = shown.indexOf(text, seen) + text.length
    },
    types: (keys) => void child.stdin.write(keys),
    ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, shown }))),
  }
}

/** A target in front of another one that never answers the requests (`METHOD path`) that it holds, and tells those that it passes. */
export async function slowTarget(behind: string, holds: (line: string) => boolean) {
  const passed: string[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  let held = 0
  const port = Number(new URL(behind).port)
  const { url, close } = await startRaw((asked) => {
    const line = asked.text.slice(0, asked.text.indexOf(' HTTP/'))
    if (!holds(line)) {
      passed.push(line)
      return passOn(asked, port)
    }
    held++
    for (const { count, resolve } of waiting) if (held >= count) resolve()
  })
  onTestFinished(close)
  return {
    url,
    passed,
    /** Settles when so many requests are held. */
    held: (count: number) =>
      new Promise<void>((resolve) => {
        if (held >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}
