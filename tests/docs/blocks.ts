import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A fenced block of a page, what the comment above it says, and the output that the page shows below it. */
export interface Block {
  readonly page: string
  readonly language: string
  readonly text: string
  /** `<!-- run -->` above it: it is run. */
  readonly run: boolean
  /** `<!-- run defects: a, b -->`: against a reference that misbehaves so. */
  readonly defects: readonly string[]
  readonly output: string | undefined
}

const form = /(?:^<!-- run(?: defects: ([^\n]*?))? -->\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm

/** The fenced blocks of a page. A block of text behind commands is what they print. */
export function blocksOf(page: string): Block[] {
  const all = [...readFileSync(join(root, page), 'utf8').matchAll(form)]
  return all.map((match, at) => {
    const [whole, defects, language = '', text = ''] = match
    const next = all[at + 1]
    return {
      page,
      language,
      text,
      run: whole.startsWith('<!-- run'),
      defects: defects?.split(', ') ?? [],
      output: next?.[2] === 'text' ? next[3] : undefined,
    }
  })
}

/** The command lines of a block, comments left out. */
export function commandsOf({ text }: Block): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/(?:^|\s+)#.*$/, '').trim())
    .filter((line) => line !== '')
}

/** The first line of what a page shows that did not come, in their order; `…` stands for any characters, alone for any lines. */
export function missing(shown: string, printed: string): string | undefined {
  const lines = printed.split('\n')
  let at = 0
  for (const wanted of shown.trimEnd().split('\n')) {
    if (wanted.trim() === '…' || wanted.trim() === '') continue
    const pattern = new RegExp(`^${wanted.split('…').map(literal).join('.*')}$`)
    const found = lines.findIndex((line, index) => index >= at && pattern.test(line.trimEnd()))
    if (found < 0) return wanted
    at = found + 1
  }
  return undefined
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
