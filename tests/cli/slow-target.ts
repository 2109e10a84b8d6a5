import { onTestFinished } from 'vitest'
import { passOn, startRaw } from '../support/raw-server.ts'

/** A target that is in front of another one and never answers some requests. */
export interface SlowTarget {
  readonly url: string
  /** Settles when so many requests are held. */
  held(count: number): Promise<void>
  /** `METHOD path` of whatever was sent on, in order. */
  readonly passed: readonly string[]
}

/** @param holds whether a request (`METHOD path`) is never answered */
export async function slowTarget(
  behind: string,
  holds: (line: string) => boolean,
): Promise<SlowTarget> {
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
    held: (count) =>
      new Promise((resolve) => {
        if (held >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}
