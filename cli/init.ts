import { program } from './output/program.ts'
import { existsSync, writeFileSync } from 'node:fs'
import { cancel, isCancel, multiselect, text } from '@clack/prompts'
import { Command } from '@commander-js/extra-typings'
import { isOperationId, type OperationId, operations } from '../catalogue/operations.ts'
import { count, readBytes, readReport } from '../harness/report/index.ts'
import { inProcessUrl } from '../harness/recording/index.ts'
import { baseUrlProblem, resolveTarget } from '../harness/target/index.ts'
import { unwritable, UserError } from '../harness/user-error.ts'
import { terminalText } from '../reporters/escape.ts'
import { tell } from '../library/output/say.ts'
import { whatToDeclare } from '../reporters/view/next-steps.ts'
import { added, type Answers, isModule, starter } from './init/starter.ts'
import { checkOutputs, holdsKey } from '../library/output/files.ts'
import type { OptionsOf } from './run/arguments.ts'
import { newestReport } from './run/last-report.ts'

type InitArguments = Omit<OptionsOf<typeof initCommand>, 'from'> & {
  readonly from?: string | undefined
}

export function initCommand() {
  return new Command('init')
    .description(
      'write a commented target file to start from; asks questions on a terminal, and probes the server if a key is set',
    )
    .argument(
      '[file]',
      'ends in .json, or .ts, .mts, .js, .mjs for a module',
      'conform.target.json',
    )
    .option('--base-url <url>', 'base URL of the target')
    .option('--name <name>', 'name in reports (default: its host)')
    .option(
      '--from [report.json]',
      'add what that run was missing (default: the last run); keeps what the file has',
    )
    .option('--force', 'overwrite the file')
    .action(async (file, { from, ...others }) => {
      const options = { ...others, from: from === undefined ? undefined : reportIn(from) }
      checkInit(file, options)
      const say = (text: string): void => tell(process.stdout, [terminalText(text)])
      const answers = await answersOf(options, say)
      if (options.from !== undefined && existsSync(file) && options.force !== true)
        writeFile(file, added(readBytes(file).toString(), answers), true)
      else writeStarter(file, answers, options.force === true)
      say(`${file} written; next: ${program(process).join(' ')} --target ${file}`)
    })
}

/** The report of `--from`, by default that of the last run. */
function reportIn(from: string | true): string {
  const path = from === true ? newestReport() : from
  if (path === undefined)
    throw new UserError(
      '--from: no earlier run was found; run conform first, or give its JSON report',
    )
  return path
}

async function answersOf(options: InitArguments, say: (text: string) => void): Promise<Answers> {
  if (options.from !== undefined) return answersFrom(options.from, options)
  const look: Look = async (baseUrl, keyVariable) => {
    const { absent, sentence } = await whatIsThere(baseUrl, keyVariable, process.env)
    say(sentence)
    return absent
  }
  if (process.stdin.isTTY && process.stdout.isTTY)
    return askAnswers(options, terminalQuestions, look)
  const answers = standardAnswers(options)
  if (options.baseUrl === undefined) return answers
  return { ...answers, notServed: await look(answers.baseUrl, answers.keyVariable) }
}

type Look = (baseUrl: string, keyVariable: string) => Promise<readonly OperationId[]>

/** Probes each operation once and describes the result in one sentence. */
export async function whatIsThere(
  baseUrl: string,
  keyVariable: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly absent: readonly OperationId[]; readonly sentence: string }> {
  const nothing = (why: string) => ({
    absent: [],
    sentence: `${baseUrl} was not probed: ${why}`,
  })
  if (!env[keyVariable])
    return nothing(`${keyVariable} is not set. With a key, init detects missing operations`)
  const file = { baseUrl, keys: { full: { env: keyVariable } } }
  const { target } = await resolveTarget(file, { dir: process.cwd(), env })
  const { lookAt } = await import('../suites/judge.ts')
  const { absent, ended, hints, keyRefused } = await lookAt(target)
  const why =
    ended?.reason ?? (keyRefused ? `it does not accept the key in ${keyVariable}` : hints[0])
  if (why !== undefined) return nothing(why)
  const ids = absent.flatMap(({ operation }) => (isOperationId(operation) ? [operation] : []))
  const found =
    ids.length === 0
      ? `each of its ${operations.length} operations answers`
      : `not built yet, and written as "not-served": ${count(ids.length, 'operation')} (${ids.join(', ')})`
  return { absent: ids, sentence: `${baseUrl} was probed: ${found}` }
}

/** Refuses bad arguments before asking questions; throws UserError. */
export function checkInit(file: string, { baseUrl, force, from }: InitArguments): void {
  isModule(file)
  if (from !== undefined)
    checkOutputs([{ path: file, option: file }], { 'the report of --from': from })
  if (!force && from === undefined && existsSync(file))
    throw new UserError(`${file}: exists already; --force overwrites it`)
  if (holdsKey(file))
    throw new UserError(`${file}: contains a key, which is never overwritten; give another file`)
  const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl)
  if (problem !== undefined) throw new UserError(`--base-url ${problem}`)
}

const exampleUrl = 'https://staging.example.com'
const usualVariable = 'CONFORM_API_KEY'

export function standardAnswers({ baseUrl = exampleUrl, name }: InitArguments): Answers {
  return { baseUrl, name: name ?? new URL(baseUrl).host, keyVariable: usualVariable, notServed: [] }
}

/** Reads what a report says about a target: of the declarations, only those not served. */
export function answersFrom(path: string, { baseUrl, name }: InitArguments): Answers {
  const { report } = readReport(path)
  const isInProcess = report.target.baseUrl === inProcessUrl
  return {
    ...standardAnswers({
      // A handler has no address.
      baseUrl: baseUrl ?? (isInProcess ? exampleUrl : report.target.baseUrl),
      name: name ?? report.target.name,
    }),
    notServed: [...report.run.notServed, ...(report.run.absent ?? [])].flatMap(({ operation }) =>
      isOperationId(operation) ? [operation] : [],
    ),
    steps: whatToDeclare(report),
  }
}

export function writeStarter(file: string, answers: Answers, force: boolean): void {
  writeFile(file, starter(file, answers), force)
}

function writeFile(file: string, text: string, force: boolean): void {
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    throw unwritable(file, error)
  }
}

export type Questions = typeof terminalQuestions

const terminalQuestions = {
  /** An empty answer means the default. `problem` describes an invalid answer. */
  async text(
    message: string,
    standard: string,
    problem?: (answer: string) => string | undefined,
  ): Promise<string> {
    const validate = (value: string | undefined) => (value ? problem?.(value) : undefined)
    return given<string>(
      await text({ message, placeholder: standard, defaultValue: standard, validate }),
    ).trim()
  },
  /** Preselected choices. */
  async choose(
    message: string,
    all: readonly OperationId[],
    first: readonly OperationId[],
  ): Promise<readonly OperationId[]> {
    const options = all.map((value) => ({ value, label: value }))
    return given<OperationId[]>(
      await multiselect({ message, options, initialValues: [...first], required: false }),
    )
  },
}

/** Cancelling ends the command before anything is written. */
function given<T>(answer: T | symbol): T {
  if (!isCancel(answer)) return answer as T
  cancel('Nothing was written.')
  throw new UserError('conform init: cancelled; nothing was written')
}

export async function askAnswers(
  given: InitArguments,
  questions: Questions,
  look: Look = async () => [],
): Promise<Answers> {
  const baseUrl = given.baseUrl ?? (await questions.text('Base URL', exampleUrl, baseUrlProblem))
  const name =
    given.name ?? (await questions.text('Name, as reports show it', new URL(baseUrl).host))
  const keyVariable = await questions.text(
    'Environment variable that holds the key with full rights',
    usualVariable,
    (answer) =>
      /^[A-Za-z_]\w*$/.test(answer) ? undefined : 'give the name of a variable, not the key',
  )
  const ids = operations.map(({ id }) => id)
  const absent = await look(baseUrl, keyVariable)
  const there = ids.filter((id) => !absent.includes(id))
  const served = await questions.choose('Operations that it serves', ids, there)
  const application = served.includes('jobs.create') ? await askApplication(questions) : undefined
  const notServed = ids.filter((id) => !served.includes(id))
  return { name, baseUrl, keyVariable, notServed, ...(application && { application }) }
}

async function askApplication(questions: Questions): Promise<Answers['application']> {
  const question =
    'Id of an application on which jobs may be created (leave empty if there is none)'
  const id = await questions.text(question, '')
  if (id === '') return undefined
  const inputs = await questions.text('Its inputs, such as topic=tea, tone=dry', '', (answer) =>
    parseInputs(answer) === null ? 'write id=value, with commas between' : undefined,
  )
  return { id, inputs: parseInputs(inputs) ?? [] }
}

/** Parses `topic=tea, tone=dry` as inputs of an application; null if malformed. */
export function parseInputs(text: string): { id: string; value: string[] }[] | null {
  if (text.trim() === '') return []
  const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)\s*=\s*(.+?)\s*$/.exec(pair))
  return pairs.every((pair) => pair !== null)
    ? pairs.map((pair) => ({ id: pair[1]!, value: [pair[2]!] }))
    : null
}
