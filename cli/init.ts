import { existsSync, writeFileSync } from 'node:fs'
import { cancel, isCancel, multiselect, text } from '@clack/prompts'
import { Command } from '@commander-js/extra-typings'
import { isOperationId, type OperationId, operations } from '../catalogue/operations.ts'
import { inProcessUrl } from '../harness/recording/index.ts'
import { count, readBytes, readReport } from '../harness/report/index.ts'
import { baseUrlProblem, resolveTarget } from '../harness/target/index.ts'
import { unwritable, UserError } from '../harness/user-error.ts'
import { checkOutputs, holdsKey } from '../library/output/files.ts'
import { tell } from '../library/output/say.ts'
import { terminalText } from '../reporters/escape.ts'
import { type Step, whatToDeclare } from '../reporters/view/next-steps.ts'
import { added, type Answers, isModule, keyVariable, starter } from './init/starter.ts'
import { program, newestReport } from './run/arguments.ts'

interface InitOptions {
  readonly baseUrl?: string | undefined
  readonly force?: true | undefined
  readonly from?: string | undefined
}

export function initCommand() {
  return new Command('init')
    .summary('write a target file to start from')
    .description(
      'write a commented target file to start from; asks questions on a terminal, and probes the server if a key is set',
    )
    .argument(
      '[file]',
      'ends in .json, or .ts, .mts, .js, .mjs for a module',
      'conform.target.json',
    )
    .option('--base-url <url>', 'base URL of the target')
    .option(
      '--from [report.json]',
      'add what that run was missing (default: the last run); keeps what the file has',
    )
    .option('--force', 'overwrite the file')
    .action(async (file, { from: given, ...others }) => {
      const from = given === true ? newestReport() : given
      if (given !== undefined && from === undefined)
        throw new UserError(
          '--from: no earlier run was found; run conform first, or give its JSON report',
        )
      checkInit(file, { ...others, from })
      const say = (line: string): void => tell(process.stdout, [terminalText(line)])
      if (from === undefined) writeFile(file, starter(file, await answersOf(others, say)), others)
      else addLacking(file, from, others)
      say(`${file} written; next: ${program(process).join(' ')} --target ${file}`)
    })
}

async function answersOf(initOptions: InitOptions, say: (line: string) => void): Promise<Answers> {
  const look: Look = async (url) => {
    const { absent, sentence } = await whatIsThere(url, process.env)
    say(sentence)
    return absent
  }
  if (process.stdin.isTTY && process.stdout.isTTY)
    return askAnswers(initOptions.baseUrl, terminalQuestions, look)
  const answers = standardAnswers(initOptions.baseUrl)
  if (initOptions.baseUrl === undefined) return answers
  return { ...answers, notServed: await look(initOptions.baseUrl) }
}

type Look = (baseUrl: string) => Promise<readonly OperationId[]>

/** Probes each operation once and describes the result in one sentence. */
async function whatIsThere(baseUrl: string, env: Readonly<Record<string, string | undefined>>) {
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
  const ids = absent.map((one) => one.operation).filter(isOperationId)
  const found =
    ids.length === 0
      ? `each of its ${operations.length} operations answers`
      : `not built yet, and written as "not-served": ${count(ids.length, 'operation')} (${ids.join(', ')})`
  return { absent: ids, sentence: `${baseUrl} was probed: ${found}` }
}

/** Refuses bad arguments before asking questions; throws UserError. */
export function checkInit(file: string, { baseUrl, force, from }: InitOptions): void {
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

export function standardAnswers(baseUrl = exampleUrl): Answers {
  return { baseUrl, notServed: [] }
}

/** Adds what the run of a report was missing to the file, or to a new one for the same target. */
export function addLacking(file: string, from: string, initOptions: InitOptions): void {
  const { report } = readReport(from)
  const steps: Pick<Step, 'example'>[] = whatToDeclare(report)
  const notServed = [...report.run.notServed, ...(report.run.absent ?? [])]
    .map((one) => one.operation)
    .filter(isOperationId)
  if (existsSync(file) && !initOptions.force) {
    const absent = Object.fromEntries(notServed.map((id) => [id, 'not-served']))
    const own = notServed.length > 0 ? [{ example: { operations: absent } }] : []
    return writeFile(file, added(readBytes(file).toString(), [...steps, ...own]), { force: true })
  }
  // A handler has no address.
  const judged = report.target.baseUrl === inProcessUrl ? undefined : report.target.baseUrl
  const answers = { ...standardAnswers(initOptions.baseUrl ?? judged), notServed }
  writeFile(file, added(starter(file, answers), steps), { force: initOptions.force })
}

export function writeFile(file: string, text: string, initOptions: InitOptions): void {
  try {
    writeFileSync(file, text, { flag: initOptions.force ? 'w' : 'wx' })
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
    problem: (answer: string) => string | undefined,
  ): Promise<string> {
    const validate = (value: string | undefined) => (value ? problem(value) : undefined)
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
  known: string | undefined,
  questions: Questions,
  look: Look = async () => [],
): Promise<Answers> {
  const baseUrl = known ?? (await questions.text('Base URL', exampleUrl, baseUrlProblem))
  const ids = operations.map((operation) => operation.id)
  const absent = await look(baseUrl)
  const there = ids.filter((id) => !absent.includes(id))
  const served = await questions.choose('Operations that it serves', ids, there)
  return { baseUrl, notServed: ids.filter((id) => !served.includes(id)) }
}
