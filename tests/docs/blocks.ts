import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export const documents = readdirSync(join(root, 'docs'), { encoding: 'utf8', recursive: true })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)

/**
 * A fenced block of a page, and who runs it by the comment above it. `run by: <file>`: that file does. `run after: <command>`: the
 * shell runs this first. `run as: <name>`: it is a target file of that name. `run defects: <names>`: the server misbehaves so.
 */
export type Block = ReturnType<typeof blocksOf>[number]

const form =
  /(?:^<!-- run(?: (by|after|as|defects): ([^\n]*?))? -->\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm

export function blocksOf(page: string) {
  const all = [...readFileSync(join(root, page), 'utf8').matchAll(form)]
  return all.map(([whole, member, value = '', language = '', text = ''], at) => {
    const given = (name: string) => (member === name ? value : undefined)
    const [below, , , belowLanguage, belowText] = all[at + 1] ?? []
    const shown = belowLanguage === 'text' && !below!.startsWith('<!--') ? belowText : undefined
    return {
      ...{ page, language, text },
      run: whole.startsWith('<!-- run') && member !== 'by',
      by: given('by'),
      after: given('after') ?? '',
      as: given('as'),
      defects: given('defects')?.split(', ') ?? [],
      /** What the page shows: the block of text below, or the lines of a console without `$`. */
      output: language === 'console' ? text.replaceAll(/^\$ .*\n/gm, '') : shown,
    }
  })
}

/** The command lines of a block, without comments. */
export const commandsOf = ({ language, text }: Block): string[] =>
  text
    .split('\n')
    .filter((line) => language !== 'console' || line.startsWith('$ '))
    .map((line) => line.replaceAll(/^\$ |(?:^|\s+)#.*$/g, '').trim())
    .filter(Boolean)

/**
 * The first line of a page's output that was not printed, in order. `…` matches any characters, alone any lines; a count or a time
 * matches any other; a status, an exit code, a section and an id are themselves.
 */
export function missing(shown: string, printed: string): string | undefined {
  const lines = printed.split('\n')
  let at = 0
  for (const wanted of shown.trimEnd().split('\n')) {
    if (wanted.trim() === '…' || wanted.trim() === '') continue
    const pattern = new RegExp(`^${wanted.split('…').map(loose).join('.*')}$`)
    const found = lines.findIndex((line, index) => index >= at && pattern.test(line.trimEnd()))
    if (found < 0) return wanted
    at = found + 1
  }
  return undefined
}

const aCount = /(?<![\w/.:§-]|exit )\d+(?:\.\d+)?(?![\w-]|\.\d| [A-Z])/
const aTime = /(?<![\w.])(?:\d+ min )?\d+(?:\.\d+)? m?s(?!\w)/

function loose(text: string): string {
  const literal = (part: string): string => part.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  const counts = (part: string): string => part.split(aCount).map(literal).join('\\d+(?:\\.\\d+)?')
  return text.split(aTime).map(counts).join(aTime.source)
}
