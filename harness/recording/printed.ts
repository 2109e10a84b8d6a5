import { redacted } from './recorded.ts'
import { isSecretName, Redactor, shortestKey } from './redactor.ts'

let known = new Redactor()
/** Literals in modules that look like keys: guesses, made before the modules run. */
let literals = new Redactor()

export const printed = {
  add: (value: string, label: string): void => known.add(value, label),
  keep: (text: string): void => known.keep(text),
  text: (text: string): string => known.text(text),
  foreign: (text: string): string => literals.text(known.text(text)),
  forget(): void {
    known = new Redactor()
    literals = new Redactor()
  },
}

/** Notes literals that look like keys before a module runs: an error while loading may quote them. */
export function noteLiterals(source: string): void {
  const named = /([\w$]+)["']?\s*[:=]\s*(["'`])([^"'`\s]+)\2/g
  for (const [, name = '', , value = ''] of source.matchAll(named)) {
    const isKey = isSecretName(name) || /^(?:full|expired|restricted)$/i.test(name)
    if (isKey && value.length >= shortestKey) literals.add(value, redacted)
  }
}

const isPlace = (value: string): boolean => /^(?:[./~]|[\w+.-]+:\/|unix:)/.test(value)

/**
 * An error of foreign code in one line, without anything that may be a key: known keys, values of environment variables
 * with a secret name, and words that look like keys, since such code may have created one.
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
    .replaceAll(longWord, (word) => (/\.[a-z]{1,4}$/i.test(word) ? word : redacted))
}

const longest = 1_000

const longWord = /(?<![\w/.$~+:@-])(?=[\w+/=~.-]*\d)(?=[\w+/=~.-]*[a-z])[\w+/=~.-]{16,}/gi
