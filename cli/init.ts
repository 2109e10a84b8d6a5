import { existsSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { baseUrlProblem } from '../harness/target-file/http-values.ts'
import { isOperationId } from '../catalogue/operations.ts'
import { readReport } from '../harness/report/json-file.ts'
import { whatToDeclare } from '../reporters/view/to-declare.ts'
import { checkOutputs, holdsKey } from './output/files.ts'
import { unwritable, UserError } from '../harness/user-error.ts'
import {
  type Answers,
  EXAMPLE_URL,
  KEY_VARIABLE,
  nameOf,
  isModule,
  askAnswers,
  type Questions,
  probeTarget,
} from './init/answers.ts'
import { starter } from './init/starter.ts'
import { cancel, isCancel, log, multiselect, text } from '@clack/prompts'
import { terminalText } from '../reporters/escape/terminal.ts'

/** The questions on a terminal. Giving up ends the command; nothing was written by then. */
const terminalQuestions: Questions = {
  async text(message, { default: standard, problem }) {
    const entered = await text({
      message,
      placeholder: standard,
      defaultValue: standard,
      validate: (value) => (value ? problem?.(value) : undefined),
    })
    return given<string>(entered).trim()
  },
  async choose(message, all, chosen) {
    const ticked = await multiselect<string>({
      message,
      options: all.map((value) => ({ value, label: value })),
      initialValues: [...chosen],
      required: false,
    })
    const picked = given<string[]>(ticked)
    return all.filter((value) => picked.includes(value))
  },
  tell: (finding) => log.info(terminalText(finding)),
}

function given<T>(answer: T | symbol): T {
  if (!isCancel(answer)) return answer as T
  cancel('Nothing was written.')
  throw new UserError('conform init: cancelled; nothing was written')
}

export interface InitArguments {
  readonly baseUrl?: string
  readonly name?: string
  readonly force?: boolean
  /** Path of a JSON report: what it says to be lacking is written, too. */
  readonly from?: string
}

export function initCommand(): Command {
  return new Command('init')
    .description('write a commented starter target file; asks questions only on a terminal')
    .argument('[file]', 'ends in .json, or .ts, .mts, .js, .mjs for a module', 'conform.target.json')
    .option('--base-url <url>', 'base URL of the target')
    .option('--name <name>', 'what the reports call it (default: its host)')
    .option('--from <report.json>', 'write what that run lacked, with how much each part gains; asks nothing')
    .option('--force', 'overwrite the file')
    .action(async (file: string, options: InitArguments) => {
      checkInit(file, options)
      const answers = options.from === undefined ? await asked(options) : answersFrom(options.from, options)
      writeStarter(file, answers, options.force === true)
      process.stdout.write(`${file} written; next: conform --target ${file}\n`)
    })
}

async function asked(options: InitArguments): Promise<Answers> {
  const onTerminal = process.stdin.isTTY && process.stdout.isTTY
  if (!onTerminal) return standardAnswers(options)
  return askAnswers(options, terminalQuestions, { environment: process.env, probe: probeTarget })
}

/** Reads from a report what it tells of a target: of what its target file declared, nothing but what was not served. */
export function answersFrom(path: string, { baseUrl, name }: InitArguments): Answers {
  const { report } = readReport(path)
  return {
    ...standardAnswers({ baseUrl: baseUrl ?? report.target.baseUrl, name: name ?? report.target.name }),
    notServed: report.run.notServed.flatMap(({ operation }) => (isOperationId(operation) ? [operation] : [])),
    steps: whatToDeclare(report),
  }
}

/** Refuses before anything is asked; throws UserError. */
export function checkInit(file: string, { baseUrl, force, from }: InitArguments): void {
  isModule(file)
  if (from !== undefined) checkOutputs([{ path: file, option: file }], [{ path: from, what: 'the report of --from' }])
  if (!force && existsSync(file)) throw new UserError(`${file}: exists already; --force overwrites it`)
  if (holdsKey(file)) throw new UserError(`${file}: holds a key, which is never overwritten; give another file`)
  const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl)
  if (problem !== undefined) throw new UserError(`--base-url ${problem}`)
}

export function standardAnswers({ baseUrl = EXAMPLE_URL, name }: InitArguments): Answers {
  return { baseUrl, name: name ?? nameOf(baseUrl), keyVariable: KEY_VARIABLE, notServed: [] }
}

export function writeStarter(file: string, answers: Answers, force: boolean): void {
  try {
    writeFileSync(file, starter(file, answers), { flag: force ? 'w' : 'wx' })
  } catch (error) {
    throw unwritable(file, error)
  }
}
