import { complain } from '../library/output/say.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { debuglog } from 'node:util'
import {
  type Argument,
  Command,
  CommanderError,
  type CommandUnknownOpts,
  Help,
} from '@commander-js/extra-typings'
import { modulesRun } from '../harness/foreign-code.ts'
import { Unjudgeable, UserError } from '../harness/user-error.ts'
import { exitProcess, guardProcess, orLost, type Interrupts } from './guard.ts'
import { addArguments, checkArguments } from './run/arguments.ts'
import { nearest } from '../harness/target/index.ts'
import { suiteVersion } from '../harness/report/index.ts'

const debug = debuglog('conform')

function asked([first = '', ...rest]: readonly string[]): (() => Promise<CommandUnknownOpts>)[] {
  if (Object.hasOwn(commands, first)) return [commands[first]!]
  return [first, ...rest].some((word) => /^(help|--help|-h)$/.test(word))
    ? Object.values(commands)
    : []
}

/** A mistyped command would be parsed as a base URL. Throws UserError. */
function refuseMisspelt([first = '', second]: readonly string[]): void {
  if (first === 'help' && second !== undefined && !Object.hasOwn(commands, second)) {
    const meant = nearest(second, Object.keys(commands))
    const hint = meant === undefined ? 'conform help lists all' : `did you mean ${meant}?`
    throw new UserError(`help ${second}: no such command; ${hint}`)
  }
  if (
    second === undefined ||
    first.startsWith('-') ||
    first === 'help' ||
    Object.hasOwn(commands, first)
  )
    return
  const meant = nearest(first, Object.keys(commands))
  if (meant !== undefined)
    throw new UserError(`${first}: not a command and not a URL; did you mean conform ${meant}?`)
}

/**
 * Turns a lone --bail into `--bail=1` and a lone --failed into `--failed=`: otherwise they would consume the base URL
 * that follows.
 */
function wordsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.map((word, at) => {
    const next = args[at + 1] ?? ''
    if (end >= 0 && at > end) return word
    if (word === '--bail' && !/^-?\d/.test(next)) return '--bail=1'
    return word === '--failed' && /^$|^-|:\/\//.test(next) ? '--failed=' : word
  })
}

/** Keeps the help within 40 lines of 80 columns: one line per option, no blank lines. */
const helpSettings: Partial<Help> = {
  minWidthToWrap: 24,
  subcommandTerm: (command) =>
    [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' '),
  optionDescription: ({ argChoices, defaultValue, description }) =>
    typeof defaultValue === 'string' && !argChoices
      ? `${description} (default: ${defaultValue})`
      : description,
  visibleArguments: (command) => (command.parent === null ? [] : [...command.registeredArguments]),
  visibleOptions: (command) => command.options.filter(({ long }) => long !== '--version'),
  visibleCommands: (command) => [...command.commands],
  formatHelp: (command, help) =>
    new Help().formatHelp.call(help, command, help).replaceAll(/\n(?=\n)/g, ''),
}

function argumentTerm(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

async function program(
  words: readonly string[],
  interrupts: Interrupts,
): Promise<CommandUnknownOpts> {
  const conform = new Command('conform')
    .description('checks whether a server conforms to the AI Content Service interface')
    .version(suiteVersion(), '-V, --version')
    .enablePositionalOptions()
    .helpCommand(true)
  addArguments(conform).action(async (baseUrl, options) => {
    checkArguments(baseUrl, options, Object.keys(commands))
    const { runAction } = await import('./run.ts')
    const chosen =
      options.failed === undefined
        ? options
        : (await import('./run/options.ts')).withFailed(baseUrl, options)
    await runAction(baseUrl, chosen, interrupts)
  })
  const others = asked(words)
  if (others.length > 0) {
    // A pending signal is delivered in the next turn of the event loop, and would be lost after that.
    await nextTurn()
    await nextTurn()
    interrupts.restoreDefaultSignals()
  }
  const loaded = await Promise.all(others.map((load) => load()))
  for (const [name, summary] of Object.entries(summaries)) {
    const command = loaded.find((one) => one.name() === name)
    if (command) conform.addCommand(command.summary(summary))
  }
  for (const command of [conform, ...conform.commands]) {
    command
      .exitOverride((error) => {
        // commander has already printed its message; help and version are not errors.
        process.exitCode = error.exitCode === 0 ? 0 : 2
        throw error
      })
      .configureOutput({
        outputError: (text) => complain(text.replace(/^error: /, '').trimEnd()),
      })
      .configureHelp(helpSettings)
      .addHelpText('after', () => exampleText(command.name()))
      .showHelpAfterError(
        `(conform ${command === conform ? '' : `${command.name()} `}--help for more)`,
      )
  }
  return conform
}

/** Runs the command line: sets the exit code, prints a user's mistake as one sentence, never a stack trace. */
export async function main(argv: readonly string[], interrupts: Interrupts): Promise<void> {
  guardProcess()
  try {
    const words = wordsOf(argv.slice(2))
    refuseMisspelt(words)
    const conform = await program(words, interrupts)
    await orLost(conform.parseAsync(words, { from: 'user' }))
  } catch (error) {
    if (error instanceof CommanderError) return
    if (error instanceof UserError) {
      complain(error.message)
      process.exitCode = error instanceof Unjudgeable ? 3 : 2
      return
    }
    sayMistake(error)
  } finally {
    interrupts.stop()
    // The module of a target file may keep the event loop alive for ever.
    if (modulesRun().length > 0) await exitWhenSaid()
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

function sayMistake(error: unknown): void {
  debug('%o', error)
  const message = error instanceof Error ? error.message : String(error)
  complain(
    `a bug in the suite: ${message}; please report it, with the command line (NODE_DEBUG=conform prints the stack)`,
  )
  process.exitCode = 3
}

/** Every command except the run itself, loaded on demand. */
export const commands: Readonly<Record<string, () => Promise<CommandUnknownOpts>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  init: async () => (await import('./init.ts')).initCommand(),
  list: async () => (await import('./list.ts')).listCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  watch: async () => (await import('./watch.ts')).watchCommand(),
  keygen: async () => (await import('./certificate/keygen.ts')).keygenCommand(),
  sign: async () => (await import('./certificate/sign.ts')).signCommand(),
  verify: async () => (await import('./certificate/verify.ts')).verifyCommand(),
}

const summaries: Readonly<Record<string, string>> = {
  init: 'write a target file to start from',
  watch: 'rerun while you work',
  list: 'the requirements',
  explain: 'explain what a requirement sends, and which answers pass',
  serve: 'run the embedded reference server',
  check: 'judge recorded traffic',
  compare: 'compare reports over time, or targets',
  keygen: 'make a key pair for certificates',
  sign: 'sign a certificate for a run',
  verify: 'verify a certificate offline',
}

type Example = readonly [line: string, what: string]

export const examples: Readonly<Record<string, readonly Example[]>> = {
  serve: [['conform serve --port 8080', 'a conforming server, to test a client with']],
  init: [
    [
      'conform init staging.json --base-url https://staging.example.com',
      'a target file to start from',
    ],
    [
      'conform init next.json --from conform-report.json',
      'one with everything that run was missing',
    ],
  ],
  list: [["conform list 'jobs.*'", 'the requirements of two operations']],
  explain: [
    ['conform explain translate.run/400-empty-text', 'the request, its one fault, and what passes'],
  ],
  watch: [
    ['conform watch -t conform.target.json', 'rerun on a key press, and when the server restarts'],
  ],
  check: [
    [
      'conform check traffic.har --base-url https://staging.example.com',
      'judge what a browser or proxy recorded',
    ],
  ],
  compare: [
    [
      'conform compare monday.json tuesday.json --fail-on-new',
      'what changed; exit 1 if a required check newly fails',
    ],
    ['conform compare ours.json theirs.json', 'two servers side by side'],
  ],
  keygen: [['conform keygen', 'a key pair for certificates']],
  sign: [
    [
      'conform sign conform-report.json --private-key conform-key.pem',
      'a certificate for that run',
    ],
  ],
  verify: [
    [
      'conform verify conform-certificate.json --require conformant',
      'exit 0 if it is intact and says so',
    ],
  ],
}

/** Puts each example on its own line, so that it can be copied and fits a narrow terminal. */
function exampleText(name: string): string {
  const lines = (examples[name] ?? []).flatMap(([line, what]) => [`  # ${what}`, `  ${line}`])
  return lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}\n`
}
