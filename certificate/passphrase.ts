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

/** The passphrase of a new key, asked for twice; undefined if it is to have none. */
export async function newPassphrase({ environment, ask }: Speaker): Promise<string | undefined> {
  const given = environment[VARIABLE]
  if (given || !ask) return given || undefined
  const first = await ask('Passphrase of the new key (leave empty for none)')
  if (first === '') return undefined
  if ((await ask('The same again')) !== first) throw new UserError('the two passphrases differ; nothing was written')
  return first
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
