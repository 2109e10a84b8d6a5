import { closest, distance } from 'fastest-levenshtein'
import { UserError } from '../harness/user-error.ts'

/** A word that is this near to the name of a command was meant to be it. */
const slip = 2

/** Throws UserError if the word that stands in the place of a base URL is a misspelt command. */
export function checkNoCommandMeant(word: string | undefined, names: readonly string[]): void {
  if (word === undefined) return
  const nearest = closest(word, [...names])
  if (distance(word, nearest) > slip) return
  throw new UserError(`no such command, and no URL; did you mean conform ${nearest}?`)
}
