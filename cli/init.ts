import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as clack from '@clack/prompts'
import { Command } from '@commander-js/extra-typings'
import { catalogue } from '../catalogue/catalogue.ts'
import { isOperationId, type OperationId, operations } from '../catalogue/operations.ts'
import { inProcessUrl } from '../harness/recording/recorder.ts'
import { count, readBytes, readReport } from '../harness/report/index.ts'
import { baseUrlProblem, isModule, missingReason, resolveTarget } from '../harness/target/index.ts'
import { shellWord } from '../harness/shell-word.ts'
import { UserError } from '../harness/user-error.ts'
import { checkOutputs, writeFiles, tell } from '../library/output.ts'
import { terminalText, compactJson } from '../reporters/text.ts'
import { mergedExamples, usualPart, whatToDeclare } from '../reporters/view/next-steps.ts'
import { newestReport, program } from './run/arguments.ts'

const exampleUrl = 'https://staging.example.com'
const keyVariable = 'CONFORM_API_KEY'

export function command() {
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
    .option(
      '--from [report.json]',
      'add what that run was missing (default: the last run); keeps what the file has',
    )
    .action(async (file, { baseUrl, from: given }) => {
      isModule(file)
      const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl)
      if (problem !== undefined) throw new UserError(`--base-url ${problem}`)
      const from = given === true ? newestReport() : given
      if (given !== undefined && from === undefined)
        throw new UserError(
          '--from: no earlier run was found; run conform first, or give its JSON report',
        )
      if (from === undefined && existsSync(file))
        throw new UserError(`${file}: exists already; --from adds to it what a run was missing`)
      const output = { path: file, option: file }
      checkOutputs([output], { 'the report of --from': from })
      const written =
        from === undefined
          ? starter(file, await firstAnswers(baseUrl))
          : continued(file, from, baseUrl)
      await writeFiles([[output, written]])
      say(`${file} written; next: ${program(process).join(' ')} --target ${shellWord(file)}`)
    })
}

const say = (line: string): void => tell(process.stdout, [terminalText(line)])

interface Answers {
  readonly baseUrl: string
  readonly notServed: readonly OperationId[]
}

async function firstAnswers(given: string | undefined): Promise<Answers> {
  if (process.stdin.isTTY && process.stdout.isTTY) return askAnswers(given)
  const notServed = given === undefined ? [] : await absentAt(given)
  return { baseUrl: given ?? exampleUrl, notServed }
}

export async function askAnswers(
  given: string | undefined,
  prompts: Pick<typeof clack, 'multiselect' | 'text'> = clack,
): Promise<Answers> {
  const validate = (answer: string | undefined) => (answer ? baseUrlProblem(answer) : undefined)
  const question = { message: 'Base URL', placeholder: exampleUrl, defaultValue: exampleUrl }
  const baseUrl = given ?? answered<string>(await prompts.text({ ...question, validate })).trim()
  const ids = operations.map((operation) => operation.id)
  const absent = await absentAt(baseUrl)
  const served = answered<readonly OperationId[]>(
    await prompts.multiselect({
      message: 'Operations that it serves',
      options: ids.map((value) => ({ value, label: value })),
      initialValues: ids.filter((id) => !absent.includes(id)),
      required: false,
    }),
  )
  return { baseUrl, notServed: ids.filter((id) => !served.includes(id)) }
}

/** Cancelling ends the command before anything is written. */
function answered<T>(answer: T | symbol): T {
  if (!clack.isCancel(answer)) return answer as T
  clack.cancel('Nothing was written.')
  throw new UserError('conform init: cancelled; nothing was written')
}

/** Probes each operation once, says what it found in one sentence, and returns what is not there. */
async function absentAt(baseUrl: string): Promise<readonly OperationId[]> {
  const { env } = process
  const nothing = (why: string) => {
    say(`${baseUrl} was not probed: ${why}`)
    return []
  }
  if (!env[keyVariable])
    return nothing(`${keyVariable} is not set. With a key, init detects missing operations`)
  const file = { baseUrl, keys: { full: { env: keyVariable } } }
  const { target } = await resolveTarget(file, { dir: process.cwd(), env })
  const { inspect } = await import('../suites/judge.ts')
  const { absent, ended, hints, keyRefused } = await inspect(target)
  const why =
    ended?.reason ?? (keyRefused ? `it does not accept the key in ${keyVariable}` : hints[0])
  if (why !== undefined) return nothing(why)
  const ids = absent.map((one) => one.operation).filter(isOperationId)
  const found =
    ids.length === 0
      ? `each of its ${operations.length} operations answers`
      : `not built yet, and written as "not-served": ${count(ids.length, 'operation')} (${ids.join(', ')})`
  say(`${baseUrl} was probed: ${found}`)
  return ids
}

/** The file, or a new one for the same target, with what the run of a report was missing. */
function continued(file: string, from: string, given: string | undefined): string {
  const { report } = readReport(from)
  const notServed = [...report.run.notServed, ...(report.run.absent ?? [])]
    .map((one) => one.operation)
    .filter(isOperationId)
  const missing = { example: mergedExamples(whatToDeclare(report)) }
  if (existsSync(file)) {
    const own = notServed.length > 0 ? [{ example: { operations: absentIn(notServed) } }] : []
    return added(readBytes(file).toString(), mergedExamples([missing, ...own]))
  }
  // A handler has no address.
  const judged = report.target.baseUrl === inProcessUrl ? exampleUrl : report.target.baseUrl
  return starter(file, { baseUrl: given ?? judged, notServed }, missing.example)
}

const absentIn = (ids: readonly OperationId[]) =>
  Object.fromEntries(ids.map((id) => [id, 'not-served']))

const schemaPath = 'node_modules/ai-content-conformance/schemas/target.schema.json'

/** A commented target file that works as it is, with an example of what it may declare besides. */
export function starter(
  file: string,
  answers: Answers,
  example = usualExample(answers.notServed),
): string {
  const parts: (readonly [comment: string, member: object])[] = [
    ['What the reports call the target.', { name: new URL(answers.baseUrl).host }],
    ['http or https; may have a path. No key belongs here.', { baseUrl: answers.baseUrl }],
    [
      'The key with full rights: a string, {"env": "NAME"}, {"file": "path"} or {"command": [...], "ttlSeconds": 300}.',
      { keys: { full: { env: keyVariable } } },
    ],
    ...(answers.notServed.length > 0
      ? [['What is not applicable.', { operations: absentIn(answers.notServed) }] as const]
      : []),
    [
      'No limit: 0 requests per second. maxGenerations bounds what a run may generate.',
      { limits: { concurrency: 8, requestsPerSecond: 0, maxGenerations: 600 } },
    ],
  ]
  const members = parts.map(
    ([comment, member]) => `  // ${comment}\n${JSON.stringify(member, null, 2).slice(2, -2)}`,
  )
  const body = added(`{\n${members.join(',\n\n')}\n}`, example)
  if (isModule(file))
    return `import { defineTarget } from 'ai-content-conformance'\n\nexport default defineTarget(${body})\n`
  const schema = existsSync(join(dirname(file), schemaPath))
    ? `  "$schema": "./${schemaPath}",\n\n`
    : ''
  return `{\n${schema}${body.slice(2)}\n`
}

/** What most servers can declare, with everything that they serve. */
function usualExample(notServed: readonly OperationId[]): Record<string, unknown> {
  const known = { keys: { full: keyVariable } }
  const requirements = catalogue.map((one) => ({
    id: one.id,
    operation: one.operation,
    outcome: 'not-exercised' as const,
    ...missingReason(known, one.needs, one.operation),
  }))
  const run = { notServed: notServed.map((operation) => ({ operation })) }
  return usualPart(whatToDeclare({ requirements, run }))
}

/** The text of a target file with the example, if there is one, added at its end, once, in a comment. */
export function added(file: string, example: Record<string, unknown>): string {
  if (Object.keys(example).length === 0) return file
  const lines = [
    'To test more, move what your server has into the members above, and replace the <placeholders>',
    '(docs/target-file.md, also for scenarios and what is unreachable):',
    ...compactJson(example, 90).split('\n'),
  ]
  const end = file.lastIndexOf('}')
  const comment = lines.map((line) => `  // ${line}\n`).join('')
  if (file.includes(comment)) return file
  return `${file.slice(0, end).trimEnd()}\n\n${comment}${file.slice(end)}`
}
