import { existsSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { baseUrlProblem } from '../harness/target-file/index.ts'
import { isOperationId, type OperationId, operations } from '../catalogue/operations.ts'
import { readReport } from '../harness/report/index.ts'
import { whatToDeclare } from '../reporters/view/to-declare.ts'
import { checkOutputs, holdsKey } from './output/files.ts'
import { unwritable, UserError } from '../harness/user-error.ts'
import { type Answers, isModule, starter } from './init/starter.ts'
import { cancel, isCancel, log, multiselect, text } from '@clack/prompts'
import { terminalText } from '../reporters/escape/terminal.ts'
import { isObject, parsedJson } from '../schemas/json.ts'

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
  if (from !== undefined) checkOutputs([{ path: file, option: file }], { 'the report of --from': from })
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

export const KEY_VARIABLE = 'CONFORM_API_KEY'
export const EXAMPLE_URL = 'https://staging.example.com'

/** The name that a target goes by if nobody gives it one: its host. */
export function nameOf(baseUrl: string): string {
  return new URL(baseUrl).host
}

/** Reads `topic=tea, tone=dry` as inputs of an application; null if it is nothing of the kind. */
export function parseInputs(text: string): { id: string; value: string[] }[] | null {
  if (text.trim() === '') return []
  const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)\s*=\s*(.+?)\s*$/.exec(pair))
  return pairs.every((pair) => pair !== null) ? pairs.map((pair) => ({ id: pair[1]!, value: [pair[2]!] })) : null
}

/** The questions that can be asked; on a terminal they are those of @clack/prompts. */
export interface Questions {
  /** An empty answer is the default. `problem` says what is wrong with an answer, if anything. */
  text(
    question: string,
    options: { default: string; problem?: (answer: string) => string | undefined },
  ): Promise<string>
  choose<T extends string>(question: string, all: readonly T[], chosen: readonly T[]): Promise<readonly T[]>
  tell(finding: string): void
}

interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly probe: (baseUrl: string, key: string | undefined) => Promise<Seen>
}

/** Asks for what was not given, looks at the target once its URL and key are known, and offers what it saw. */
export async function askAnswers(
  given: { readonly baseUrl?: string; readonly name?: string },
  questions: Questions,
  { environment, probe }: Surroundings,
): Promise<Answers> {
  const baseUrl = given.baseUrl ?? (await questions.text('Base URL', { default: EXAMPLE_URL, problem: baseUrlProblem }))
  const name = given.name ?? (await questions.text('Name, as reports show it', { default: nameOf(baseUrl) }))
  const keyVariable = await questions.text('Environment variable that holds the key with full rights', {
    default: KEY_VARIABLE,
    problem: (answer) => (/^[A-Za-z_]\w*$/.test(answer) ? undefined : 'must be the name of a variable, not the key'),
  })
  const seen = await probe(baseUrl, environment[keyVariable] || undefined)
  questions.tell(seen.finding)
  const served = await questions.choose('Operations that it serves', ids, seen.listMissing ? withoutList : ids)
  const application = served.includes('jobs.create') ? await askApplication(questions) : undefined
  return {
    name,
    baseUrl,
    keyVariable,
    notServed: ids.filter((id) => !served.includes(id)),
    ...(application && { application }),
    ...(seen.file !== undefined && { file: seen.file }),
    ...(seen.pdfFile !== undefined && { pdfFile: seen.pdfFile }),
  }
}

const ids: readonly OperationId[] = operations.map((operation) => operation.id)
const withoutList = ids.filter((id) => id !== 'files.list')

async function askApplication(questions: Questions): Promise<Answers['application']> {
  const id = await questions.text('Id of an application on which jobs may be created (leave empty if there is none)', {
    default: '',
  })
  if (id === '') return undefined
  const inputs = await questions.text('Its inputs, such as topic=tea, tone=dry', {
    default: '',
    problem: (answer) => (parseInputs(answer) === null ? 'write id=value, with commas between' : undefined),
  })
  return { id, inputs: parseInputs(inputs) ?? [] }
}

interface Seen {
  /** In words, for the person who answers the questions. */
  readonly finding: string
  /** The target answered 404: it seems not to serve the list. */
  readonly listMissing: boolean
  readonly file?: string
  readonly pdfFile?: string
}

const TIMEOUT_MS = 5000

/** Asks `GET {base}/v1/files` once, with the key if there is one; never throws. */
export async function probeTarget(baseUrl: string, key: string | undefined, request = fetch): Promise<Seen> {
  try {
    const response = await request(`${baseUrl.replace(/\/+$/, '')}/v1/files`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    const files = response.ok ? filesIn(text) : {}
    return { listMissing: response.status === 404, ...files, finding: findingOf(response, key !== undefined) }
  } catch (error) {
    const slow = error instanceof DOMException && error.name === 'TimeoutError'
    const why = slow ? `no answer within ${TIMEOUT_MS / 1000} s` : 'no connection'
    return { listMissing: false, finding: `GET /v1/files: ${why}; the file is written anyway` }
  }
}

function findingOf(response: Response, withKey: boolean): string {
  const { status } = response
  const location = response.headers.get('location')
  if (status >= 300 && status < 400 && location) return `GET /v1/files redirects to ${location}: give that as base URL`
  if (response.ok) return `GET /v1/files answers ${status}${withKey ? ', the key is accepted' : ' without any key'}`
  if (status === 401) {
    return withKey
      ? 'GET /v1/files answers 401: the key is not accepted'
      : 'GET /v1/files asks for a key (401), as it should'
  }
  return `GET /v1/files answers ${status}`
}

/** Ids in the first list of objects with an `id`; the records of files are not shown by the interface (§2.8). */
function filesIn(text: string): Pick<Seen, 'file' | 'pdfFile'> {
  const records = recordsIn(parsedJson(text)).filter((record) => typeof record.id === 'string' && record.id !== '')
  const pdf = records.find((record) => /application\/pdf|\.pdf"/i.test(JSON.stringify(record)))
  const [first] = records
  return { ...(first && { file: first.id as string }), ...(pdf && { pdfFile: pdf.id as string }) }
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  const lists = Array.isArray(value) ? [value] : Object.values(value ?? {}).filter((member) => Array.isArray(member))
  return (lists[0] ?? []).filter(isObject)
}
