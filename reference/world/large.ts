import type { Answer } from './answer.ts'
import { isMembers, type Call } from './call.ts'

const mib = 1024 * 1024

/** MiB that a member adds, by variant: within what a client may be expected to read, and beyond it. */
const sizes: Readonly<Record<string, number>> = { 'answers/large': 3, 'answers/huge': 9 }

const texts = new Map<number, string>()

function text(size: number): string {
  const known = texts.get(size) ?? 'All about tea. '.repeat((size * mib) / 15)
  texts.set(size, known)
  return known
}

/** The answer with a large member, if the operation lists or retrieves files and a variant asks for it. */
export function enlarged(answer: Answer, call: Call): Answer {
  if (call.operation !== 'files.list' && call.operation !== 'files.retrieve') return answer
  const size = Object.entries(sizes).find(([variant]) => call.varied(variant))?.[1]
  if (size === undefined || !isMembers(answer.body)) return answer
  return { ...answer, body: { ...answer.body, description: text(size) } }
}

/** A large text among the data of a job; empty without the variant. */
export function largeJobText(varied: (variant: string) => boolean): string {
  return varied('answers/large') ? text(2) : ''
}
