import { baseUrlProblem } from './base-url.ts'
import { headerProblems } from './headers.ts'
import type { HookRequestValue } from './target-file.ts'

/** What is wrong with requests of the target's own beyond their form. */
export function hookRequestProblems(path: string, requests: readonly HookRequestValue[] = []): string[] {
  return requests.flatMap(({ url, headers }, at) => [
    ...urlProblem(url).map((problem) => `${path}[${at}].url ${problem}`),
    ...headerProblems(headers).map(([name, problem]) => `${path}[${at}].headers.${name} ${problem}`),
  ])
}

function urlProblem(url: string): string[] {
  if (!isWhole(url)) return []
  const problem = baseUrlProblem(url.replace(/[?#].*$/s, ''))
  return problem === undefined ? [] : [problem]
}

/** True for a URL with a scheme; any other is relative to the base URL. */
export function isWhole(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(url)
}
