import { UserError } from '../user-error.ts'
import { baseUrlProblem } from './base-url.ts'
import { operationProblems } from './check-operations.ts'
import { scenarioProblems } from './check-scenarios.ts'
import { headerProblems, keyProblem } from './headers.ts'
import { didYouMean } from './nearest.ts'
import { plainData } from './plain-data.ts'
import { memberPath, schemaProblems } from './schema-problems.ts'
import type { ApplicationValue, TargetFile } from './target-file.ts'
import { unreachableProblems } from './unreachable.ts'

/** Most problems named at once. */
const most = 10

/**
 * Gives the value back as a target file, or throws one `UserError` that names each wrong member by its path.
 * @param source how the file is called in the message
 */
export function checkTargetFile(value: unknown, source: string): TargetFile {
  const problems: string[] = []
  const data = plainData(value, (pointer, what) =>
    problems.push(`${memberPath(pointer) || 'the target file'}: ${what}`),
  )
  // Each step counts on the one before: form on plain data, meaning on form.
  if (problems.length === 0) problems.push(...schemaProblems(data))
  if (problems.length === 0) problems.push(...meaningProblems(data as TargetFile))
  if (problems.length === 0) return value as TargetFile
  const more = problems.length > most ? [`and ${problems.length - most} more`] : []
  throw new UserError([...problems.slice(0, most), ...more].map((problem) => `${source}: ${problem}`).join('\n'))
}

function meaningProblems(file: TargetFile): string[] {
  const url = file.baseUrl === undefined ? undefined : baseUrlProblem(file.baseUrl)
  return [
    ...(url === undefined ? [] : [`baseUrl ${url}`]),
    ...headerProblems(file.headers).map(([name, problem]) => `headers.${name} ${problem}`),
    ...keyProblems(file),
    ...requiredInputProblems(file),
    ...operationProblems(file),
    ...scenarioProblems(file),
    ...unreachableProblems(file),
  ]
}

function keyProblems({ keys = {}, scenarios = {} }: TargetFile): string[] {
  const { restricted, ...others } = keys
  const all: [string, unknown][] = [
    ...Object.entries(others).map(([name, value]): [string, unknown] => [`keys.${name}`, value]),
    ...(typeof restricted === 'object'
      ? Object.entries(restricted).map(([name, value]): [string, unknown] => [`keys.restricted.${name}`, value])
      : [['keys.restricted', restricted] as [string, unknown]]),
    ...Object.entries(scenarios).map(([id, { key }]): [string, unknown] => [`scenarios.${id}.key`, key]),
  ]
  return all.flatMap(([path, value]) => {
    const problem = typeof value === 'string' ? keyProblem(value) : undefined
    return problem === undefined ? [] : [`${path} ${problem}`]
  })
}

function requiredInputProblems({ resources = {} }: TargetFile): string[] {
  const names = ['application', 'otherApplication', 'slowApplication', 'failingApplication'] as const
  return names.flatMap((name) => {
    const { inputs = [], requiredInputs = [] }: Partial<ApplicationValue> = resources[name] ?? {}
    const ids = inputs.map(({ id }) => id)
    return requiredInputs
      .filter((id) => !ids.includes(id))
      .map(
        (id) =>
          `resources.${name}.requiredInputs names "${id}", which is not the id of one of its inputs${didYouMean(id, ids)}`,
      )
  })
}
