import type { OperationId } from '../../catalogue/operations.ts'
import { operations } from '../../catalogue/operations.ts'
import { baseUrlProblem } from '../../harness/target/base-url.ts'
import type { Answers } from './answers.ts'
import { EXAMPLE_URL, KEY_VARIABLE, nameOf, parseInputs } from './answers.ts'
import type { Seen } from './probe-target.ts'

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

export interface Surroundings {
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
