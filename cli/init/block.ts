import { compactJson } from '../../reporters/view/writing.ts'

/** A member of the target file, with what is to be said about it; one that is not `live` is written as a comment. */
export interface Block {
  readonly about: readonly string[]
  readonly name: string
  readonly value: unknown
  readonly live: boolean
  /** Members of the value that are written as comments. */
  readonly comments?: readonly Comment[]
}

/** Members in comments, and what stands above them. */
export interface Comment {
  readonly about: string
  readonly members: readonly (readonly [name: string, value: unknown])[]
}

export const block = (name: string, value: unknown, about: readonly string[]): Block => ({
  ...{ about, name, value },
  live: true,
})
export const hint = (name: string, value: unknown, about: readonly string[]): Block => ({
  ...{ about, name, value },
  live: false,
})

/** The block as lines of a target file. */
export function writeBlock(given: Block, index: number, all: readonly Block[]): string {
  const { about, comments = [], name, value, live } = given
  const member = comments.length > 0 ? withComments(given, comments) : memberText(name, value, 90).split('\n')
  const last = index === all.length - 1 ? '' : ','
  const lines = [...member.slice(0, -1), `${member.at(-1)}${last}`]
  const shown = live ? lines : lines.map((line) => `// ${line}`)
  return [...about.map((line) => `// ${line}`), ...shown].map((line) => `  ${line}`).join('\n')
}

/** Each of its members ends with a comma, so that any of the comments can be uncommented. */
function withComments({ name, value }: Block, comments: readonly Comment[]): string[] {
  const entry = ([key, of]: readonly [string, unknown]): string[] => `${memberText(key, of, 82)},`.split('\n')
  const known = Object.entries(value as object).flatMap(entry)
  const others = comments.flatMap(({ about, members }) => [about, ...members.flatMap(entry)])
  return [
    `${JSON.stringify(name)}: {`,
    ...known.map((line) => `  ${line}`),
    ...others.map((line) => `  // ${line}`),
    '}',
  ]
}

function memberText(name: string, value: unknown, width: number): string {
  return `${JSON.stringify(name)}: ${compactJson(value, width)}`
}
