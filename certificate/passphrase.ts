import { isCancel, password } from '@clack/prompts'
import { UserError } from '../harness/user-error.ts'

/** Holds the passphrase of the private key if nobody is there to be asked. */
const VARIABLE = 'CONFORM_KEY_PASSPHRASE'

/** Who can say a passphrase: the variable first, then somebody at a terminal. */
export interface Speaker {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Asks without showing what is typed; undefined if there is no terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
}

/** The passphrase of the key in that file; undefined if nobody says one. */
export async function passphraseOf(file: string, { environment, ask }: Speaker): Promise<string | undefined> {
  return environment[VARIABLE] || (await ask?.(`Passphrase of ${file}`))
}

/**
 * The passphrase of a new key, asked for twice; undefined if it is to have none. Throws UserError for one that is guessed
 * in no time, and for a variable that is set to nothing: a secret is missing there.
 */
export async function newPassphrase({ environment, ask }: Speaker): Promise<string | undefined> {
  const given = environment[VARIABLE]
  if (given === '') throw new UserError(`${VARIABLE} is set to nothing; unset it for a key without a passphrase`)
  if (given !== undefined) return strong(given, VARIABLE)
  if (!ask) return undefined
  const first = await ask('Passphrase of the new key (leave empty for none)')
  if (first === '') return undefined
  if ((await ask('The same again')) !== first) throw new UserError('the two passphrases differ; nothing was written')
  return strong(first, 'the passphrase')
}

/** Fewest characters, and fewest of them that do not follow from those before. */
const FEWEST = 12
const FEWEST_FREE = 8

const common =
  /pass(word|phrase|wort)?|letmein|welcome|iloveyou|monkey|dragon|football|admin(istrator)?|secret|changeme|conform(ance)?|certificate|default|login|master|test(ing)?|abc|qwert[yz]|key/g
const rows = ['qwertyuiop', 'qwertzuiop', 'asdfghjkl', 'zxcvbnm', 'yxcvbnm']

function strong(passphrase: string, name: string): string {
  if ([...passphrase].length < FEWEST || freeCharacters(passphrase) < FEWEST_FREE) {
    throw new UserError(
      `${name}: is guessed in no time; take ${FEWEST} characters or more, no common words, repetitions or sequences: four random words will do`,
    )
  }
  return passphrase
}

/** How many characters are left without common words, repetitions of the whole, and what goes on from the one before. */
function freeCharacters(passphrase: string): number {
  const text = [...passphrase.toLowerCase()].map((character) => leet[character] ?? character).join('')
  const once = text.slice(0, (text + text).indexOf(text, 1))
  const left = [...once.replaceAll(common, '')]
  const isFree = (character: string, at: number) => {
    const before = left[at - 1]
    return before === undefined || !(isNext(before, character) || isNext(character, before))
  }
  return new Set(left.filter(isFree)).size
}

/** What is written for a letter. */
const leet: Readonly<Record<string, string>> = { '@': 'a', $: 's', '0': 'o', '1': 'l', '3': 'e', '5': 's', '!': 'i' }

function isNext(one: string, other: string): boolean {
  const step = other.codePointAt(0)! - one.codePointAt(0)!
  return step === 0 || step === 1 || rows.some((row) => row.includes(one + other))
}

/** This process: its environment, and its terminal if it has one. */
export function processSpeaker(): Speaker {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY
  return { environment: process.env, ask: isTerminal ? askOnTerminal : undefined }
}

async function askOnTerminal(message: string): Promise<string> {
  const answer = await password({ message })
  if (isCancel(answer)) throw new UserError('cancelled; nothing was written')
  // clack gives undefined for an empty answer, whatever its types say.
  return answer || ''
}
