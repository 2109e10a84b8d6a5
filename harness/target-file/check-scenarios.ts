import { baseUrlProblem } from './base-url.ts'
import { headerProblems } from './headers.ts'
import type { HookRequestValue, ScenarioValue, TargetFile } from './target-file.ts'
import { catalogue, isRequirementId } from '../../catalogue/catalogue.ts'
import { type OperationId, isOperationId, operation } from '../../catalogue/operations.ts'
import { didYouMean } from './nearest.ts'

/** Finds faults of the target's own requests beyond their form. */
export function hookRequestProblems(path: string, requests: readonly HookRequestValue[] = []): string[] {
  return requests.flatMap(({ url, headers }, at) => [
    ...urlProblem(url).map((problem) => `${path}[${at}].url ${problem}`),
    ...headerProblems(headers).map(([name, problem]) => `${path}[${at}].headers.${name} ${problem}`),
  ])
}

function urlProblem(url: string): string[] {
  if (!isAbsoluteUrl(url)) return []
  const problem = baseUrlProblem(url.replace(/[?#].*$/s, ''))
  return problem === undefined ? [] : [problem]
}

/** True for a URL with a scheme; any other is relative to the base URL. */
export function isAbsoluteUrl(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(url)
}

/** Finds faults of the scenarios beyond their form. */
export function scenarioProblems({ scenarios = {} }: TargetFile): string[] {
  return Object.entries(scenarios).flatMap(([id, scenario]) => problemsOf(id, scenario))
}

function problemsOf(id: string, scenario: ScenarioValue): string[] {
  const path = `scenarios.${id}`
  const ids = catalogue.map((requirement) => requirement.id)
  if (!isRequirementId(id) && id.includes('*'))
    return [
      `${path} is a pattern, and scenarios takes none: write one entry for each id (a target file that is a module can make them in a loop)`,
    ]
  if (!isRequirementId(id)) return [`${path} names no requirement${didYouMean(id, ids)}`]
  const area = id.slice(0, id.indexOf('/'))
  if (area === 'envelope') return [`${path} is not possible: envelope requirements are judged on every response`]
  return [
    ...operationProblem(path, area, scenario),
    ...paramProblems(path, isOperationId(area) ? area : scenario.operation, scenario),
    ...bodyProblems(path, scenario),
    ...headerProblems(scenario.headers, `give the key as ${path}.key`).map(
      ([name, problem]) => `${path}.headers.${name} ${problem}`,
    ),
    ...hookRequestProblems(`${path}.before`, scenario.before),
    ...hookRequestProblems(`${path}.after`, scenario.after),
  ]
}

function operationProblem(path: string, area: string, scenario: ScenarioValue): string[] {
  const required = area === 'guardrails' || area === 'general'
  if (required && scenario.operation === undefined)
    return [`${path}.operation is missing: name the operation whose request is changed`]
  if (!required && scenario.operation !== undefined)
    return [`${path}.operation is not allowed here: the id already says that it is ${area}`]
  return []
}

function paramProblems(path: string, id: OperationId | undefined, { params = {} }: ScenarioValue): string[] {
  const names = id ? [...operation(id).path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string) : []
  return Object.keys(params)
    .filter((name) => !names.includes(name))
    .map((name) => `${path}.params.${name} is not a path parameter of ${id}${didYouMean(name, names)}`)
}

function bodyProblems(path: string, { body, merge, raw }: ScenarioValue): string[] {
  if (raw !== undefined && (body !== undefined || merge !== undefined))
    return [`${path}.raw replaces the body: remove body and merge`]
  return []
}
