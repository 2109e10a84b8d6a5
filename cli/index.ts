import { setImmediate as nextTurn } from 'node:timers/promises'
import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings'
import { modulesRun, Unjudgeable, UserError } from '../harness/user-error.ts'
import { suiteVersion } from '../harness/report/index.ts'
import { nearest } from '../harness/target/index.ts'
import { complain } from '../library/output.ts'
import { bugSentence, exitProcess, guardProcess, orLost, type Interrupts } from './guard.ts'
import { addArguments, checkArguments, isEmbedded, lastRun } from './run/arguments.ts'
import { startEmbedded } from './run/embedded.ts'

/** Every command except the run itself, loaded on demand. */
export const commands: Readonly<Record<string, () => Promise<{ command(): CommandUnknownOpts }>>> =
  {
    init: () => import('./init.ts'),
    watch: () => import('./watch.ts'),
    list: () => import('./list.ts'),
    explain: () => import('./explain.ts'),
    serve: () => import('./serve.ts'),
    check: () => import('./check.ts'),
    compare: () => import('./compare.ts'),
    keygen: () => import('./certificate/keys.ts'),
    sign: () => import('./certificate/sign.ts'),
    verify: () => import('./certificate/verify.ts'),
  }

/**
 * Gives a lone --bail and a lone --failed a value: otherwise they would consume the base URL that follows. Throws
 * UserError for an empty word, as of `--target "$UNSET"`.
 */
function wordsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  const own = end < 0 ? args : args.slice(0, end + 2)
  const empty = own.findIndex((word) => /^(?:--[\w-]+=)?$/.test(word))
  if (empty >= 0) {
    const option = [args[empty]!, args[empty - 1] ?? ''].find((word) => word.startsWith('-'))
    const place = option?.replace('=', '') ?? `argument ${empty + 1}`
    throw new UserError(`${place}: is empty; is a variable not set?`)
  }
  return args.map((word, at) => {
    const next = args[at + 1] ?? ''
    if (end >= 0 && at > end) return word
    if (word === '--bail' && !/^-?\d/.test(next)) return '--bail=1'
    return word === '--failed' && next.includes('://') ? `--failed=${lastRun}` : word
  })
}

/** Makes the command line for these words; throws UserError for a mistyped command. */
async function program(
  words: readonly string[],
  interrupts: Interrupts,
): Promise<CommandUnknownOpts> {
  const [first = ''] = words
  const names = Object.keys(commands)
  const own = names.filter((name) => name === first)
  const isKnown = own.length > 0 || first === 'help' || first.startsWith('-')
  // It would be parsed as a base URL.
  const meant = isKnown ? undefined : nearest(first, names)
  if (meant !== undefined)
    throw new UserError(`${first}: not a command and not a URL; did you mean conform ${meant}?`)
  const conform = new Command('conform')
    .description('checks whether a server conforms to the AI Content Service interface')
    .version(suiteVersion(), '-V, --version')
    .enablePositionalOptions()
    .helpCommand(true)
    .showHelpAfterError('(--help for more)')
    .configureOutput({ outputError: (text) => complain(text.replace(/^error: /, '').trimEnd()) })
    .exitOverride((error) => {
      // commander has already printed its message; help and version are not errors.
      process.exitCode = error.exitCode === 0 ? 0 : 2
      throw error
    })
  addArguments(conform).action(async (baseUrl, given) => {
    const options = checkArguments(baseUrl, given)
    if (options.dryRun) {
      // Nothing to send or report: it can end at any time.
      interrupts.restoreDefaultSignals()
      return (await import('./dry-run.ts')).dryRun(baseUrl, options)
    }
    // It starts while the run is loaded.
    const starting = isEmbedded(baseUrl, options) ? startEmbedded() : undefined
    // Reported where it is awaited.
    starting?.catch(() => undefined)
    const { oneRun } = await import('./run/one-run.ts')
    // Handles signals that arrived during loading first.
    await nextTurn()
    const { done } = await oneRun(baseUrl, options, interrupts, starting)
    // What did not end in time would keep the process alive; pending output is written first.
    if (!done) setImmediate(() => exitProcess())
  })
  const isHelp = words.some((word) => /^(help|--help|-h)$/.test(word))
  const loaded = isHelp && own.length === 0 ? names : own
  if (loaded.length > 0) {
    // A pending signal is delivered in the next turn of the event loop, and would be lost after that.
    await nextTurn()
    await nextTurn()
    interrupts.restoreDefaultSignals()
  }
  for (const name of loaded)
    conform.addCommand((await commands[name]!()).command().copyInheritedSettings(conform))
  return conform
}

/** Runs the command line: sets the exit code, prints a user's mistake as one sentence, never a stack trace. */
export async function main(argv: readonly string[], interrupts: Interrupts): Promise<void> {
  guardProcess()
  try {
    const words = wordsOf(argv.slice(2))
    const conform = await program(words, interrupts)
    await orLost(conform.parseAsync(words, { from: 'user' }))
  } catch (error) {
    if (error instanceof CommanderError) return
    const isOurs = !(error instanceof UserError)
    complain(isOurs ? bugSentence(error) : error.message)
    process.exitCode = isOurs || error instanceof Unjudgeable ? 3 : 2
  } finally {
    interrupts.stop()
    // The module of a target file may keep the event loop alive for ever.
    if (modulesRun.length > 0) await exitWhenSaid()
  }
}

async function exitWhenSaid(): Promise<void> {
  const written = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  )
  await Promise.all(written)
  // Runs last, whatever the module does on exit.
  const { exitCode } = process
  process.once('exit', () => (process.exitCode = exitCode))
  exitProcess()
}
