import type { Call } from './call.ts'

/** Characters of a text, if a server limits what an input may hold. */
const longest = 500

/** Values that an input may have if there is a choice of them. */
const known = new Set(['tea', 'calm'])

/** Texts that a broken server trips over, by variant of the defect `jobs.create/202-any-text`. */
const stumblingBlocks: Readonly<Record<string, (text: string) => boolean>> = {
  '': (text) => /[^A-Za-z0-9 ]/.test(text),
  '#emoji': (text) => /\p{Emoji_Presentation}/u.test(text),
  '#nul': (text) => text.includes('\0'),
  '#backslash': (text) => text.includes('\\'),
}

function isBeyondLimits(text: string): boolean {
  return text.length > longest || /(?![\t\n\r])\p{Cc}/u.test(text)
}

/** Checks the texts of the inputs: no limit is told of (§2.5), and none of them may bring the server down. */
export function checkTexts(call: Call): void {
  const texts = (call.body['inputs'] as readonly { value: readonly string[] }[]).flatMap(({ value }) => value)
  const [name, trips] = Object.entries(stumblingBlocks).find(([each]) => call.broken(`202-any-text${each}`)) ?? ['']
  // The narrower defects are those of a server with limits: a text that it refuses may hide one that it cannot take.
  const limited = call.varied('jobs/texts-limited') || name !== ''
  if (limited && texts.some((text) => isBeyondLimits(text) && !trips?.(text))) {
    call.reject(400, 'BadRequest', `A text has up to ${longest} characters, none of which controls anything`)
  }
  if (call.varied('jobs/values-limited') && texts.some((text) => !known.has(text))) {
    call.reject(400, 'InvalidInputParameters', 'There is no such choice')
  }
  if (trips && texts.some(trips)) throw new Error('a text that this server cannot take')
}
