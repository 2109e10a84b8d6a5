import { redacted } from './recorded.ts'
import { isSecretName, Redactor, shortestKey } from './redactor.ts'

let known = new Redactor()
/** What modules seem to write down as a key: known before they run, and no more than a guess. */
let literals = new Redactor()

/** All keys that this process has read, for what is printed outside a report. */
export const printed = {
  /** Learns a key; it is written as its label. */
  add: (value: string, label: string): void => known.add(value, label),
  /** Text that stays although a key has it in it as well. */
  keep: (text: string): void => known.keep(text),
  /** The text without any key that is known by now. */
  text: (text: string): string => known.text(text),
  /** The same, and without what a module seems to write down as a key: for what the module itself prints. */
  foreign: (text: string): string => literals.text(known.text(text)),
  /** Begins anew: for a process that runs several command lines one after another. */
  forget(): void {
    known = new Redactor()
    literals = new Redactor()
  },
}

/** Notes what a module seems to write down as a key, before it runs: what it throws while it is loaded may quote it. */
export function noteLiterals(source: string): void {
  const named = /([\w$]+)["']?\s*[:=]\s*(["'`])([^"'`\s]+)\2/g
  for (const [, name = '', , value = ''] of source.matchAll(named)) {
    const isKey = isSecretName(name) || /^(?:full|expired|restricted)$/i.test(name)
    if (isKey && value.length >= shortestKey) literals.add(value, redacted)
  }
}

/** Variables that say where something is, and not what opens it. */
const isPlace = (value: string): boolean => /^(?:[./~]|[\w+.-]+:\/|unix:)/.test(value)

/**
 * What somebody else's code threw, in one line, without anything that may be a key: those that are known, values of the
 * environment whose name tells of a secret, and words that look like one. Such code may have made a key that nobody was told.
 */
export function foreignWords(error: unknown): string {
  const redactor = new Redactor()
  for (const [name, value = ''] of Object.entries(process.env)) {
    if (
      /key(?!word)|token|secret|passw/i.test(name) &&
      value.length >= shortestKey &&
      !isPlace(value)
    )
      redactor.add(value, `$${name}`)
  }
  const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n')
  return redactor
    .text(literals.text(printed.text(line.trim().slice(0, longest))))
    .replaceAll(longWord, (word) => (isFile(word) ? word : redacted))
}

/** Most characters of such a line. */
const longest = 1_000

/** A word with letters and digits in it that is no path, address or name of a package. */
const longWord = /(?<![\w/.$~+:@-])(?=[\w+/=~.-]*\d)(?=[\w+/=~.-]*[a-z])[\w+/=~.-]{16,}/gi
const isFile = (word: string): boolean => /\.[a-z]{1,4}$/i.test(word)
