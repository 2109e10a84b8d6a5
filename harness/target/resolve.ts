import { inProcessUrl, printed } from '../recording/index.ts'
import { UserError } from '../user-error.ts'
import { unreachableIds, unreachableProblems, withEveryOperation } from './declared.ts'
import { baseUrlProblem, normalBaseUrl } from './http-values.ts'
import { type Context, type Environment, labels, newContext } from './keys.ts'
import { placed, refuse, refuseAll } from './keys.ts'
import { applicationNames, defaultLimits, type Target } from './model.ts'
import { compact, type Given, partsOf } from './parts.ts'
import { leavesOf, plainFile, targetDigest, unfilledProblem, unknownNames } from './places.ts'
import type { FetchHandler, Limits, TargetFile } from './target-file.ts'

export interface ResolveOptions extends Given {
  /** Folder that relative paths of the file are relative to. */
  readonly dir: string
  /** How the file is called in messages: its path. */
  readonly source?: string | undefined
  readonly env: Environment
  readonly baseUrl?: string
  readonly limits?: Partial<Limits>
}

export interface Resolved {
  readonly target: Target
  readonly handler?: FetchHandler
  readonly warnings: readonly string[]
}

/**
 * Reads everything that a target file of the right form refers to; throws a `UserError` that names each thing that is wrong,
 * or is not there.
 */
export async function resolveTarget(
  { fetch, ...file }: TargetFile,
  options: ResolveOptions,
): Promise<Resolved> {
  // A base URL that somebody gives wins over what the file names.
  const handler = options.baseUrl === undefined ? fetch : undefined
  const baseUrl = usedBaseUrl(file, handler ? inProcessUrl : options.baseUrl)
  const { dir, source, env } = options
  const context = newContext({ dir, source, env, baseUrl })
  const parts = walk(context, file, options)
  refuseAll(context.problems, source)
  for (const ask of context.asked) await ask()
  const shown = shownFile(file, parts.keys.full?.label)
  const texts = leavesOf(shown).flatMap(([, leaf]) => (leaf === '' ? [] : String(leaf)))
  const kept = [...new Set([baseUrl, new URL(baseUrl).host, ...texts])]
  const isKept = (value: string): boolean => kept.some((text) => text.includes(value))
  const limits = compact<Partial<Limits>>(options.limits ?? {})
  const target: Target = {
    name: file.name ?? (handler ? 'a handler in this process' : new URL(baseUrl).host),
    baseUrl,
    ...parts,
    unreachable: unreachableIds(shown),
    limits: { ...defaultLimits, ...file.limits, ...limits },
    timeoutDeclared: (limits.timeoutMs ?? file.limits?.timeoutMs) !== undefined,
    applicationIds: new Set(applicationNames.flatMap((name) => file.resources?.[name]?.id ?? [])),
    ids: new Set(texts.map((text) => text.toLowerCase())),
    file: shown,
    digest: targetDigest(file),
    secrets: [...context.secrets, ...context.hidden.filter(({ value }) => !isKept(value))],
    kept,
  }
  for (const text of kept) printed.keep(text)
  for (const { value, label } of target.secrets) printed.add(value, label)
  return { target, handler, warnings: context.warnings }
}

/** In normal form; one of the file that is wrong is told by the walk. */
function usedBaseUrl(file: TargetFile, given: string | undefined): string {
  const text = given ?? file.baseUrl
  if (text === undefined)
    throw new UserError(
      'no base URL: give one on the command line or as baseUrl in the target file',
    )
  const problem = baseUrlProblem(text)
  if (problem !== undefined && given !== undefined) throw new UserError(`the base URL ${problem}`)
  return normalBaseUrl(problem === undefined ? text : inProcessUrl)
}

/** Finds what the schema cannot say, each in one sentence; nothing that the file refers to is read. */
export function problemsOf(file: TargetFile, source: string): readonly string[] {
  const baseUrl = usedBaseUrl({ baseUrl: file.baseUrl ?? inProcessUrl }, undefined)
  const context = newContext({ dir: '', source, env: {}, isAlone: true, baseUrl })
  walk(context, file)
  return context.problems
}

/** The one walk through a target file: it looks at all that the schema cannot say, and reads each part as a run uses it. */
function walk(context: Context, file: TargetFile, given?: Given): ReturnType<typeof partsOf> {
  const problem = file.baseUrl === undefined ? undefined : baseUrlProblem(file.baseUrl)
  if (problem !== undefined) refuse(context, `baseUrl ${problem}`)
  const parts = partsOf(context, file, given)
  for (const [pointer, leaf] of leavesOf(file)) {
    if (typeof leaf !== 'string') continue
    const { problems, warnings } = unknownNames(file, pointer, leaf)
    for (const sentence of [...problems, unfilledProblem(pointer, leaf)])
      if (sentence !== undefined) refuse(context, sentence)
    context.warnings.push(...warnings.map((warning) => placed(context, warning)))
  }
  for (const sentence of unreachableProblems(file)) refuse(context, sentence)
  return parts
}

/** The file with each key written as its label, the full key of the command line or environment included. */
function shownFile(file: TargetFile, full: string | undefined): TargetFile {
  const shown = plainFile(withEveryOperation(file), {
    key(value, path) {
      if (typeof value === 'object' && 'env' in value) return `$${value.env}`
      const [, name] = /^keys\.(expired|restricted)/.exec(path) ?? []
      return labels[(name as 'expired' | 'restricted' | undefined) ?? 'other']
    },
  }) as TargetFile
  return full === undefined ? shown : { ...shown, keys: { ...shown.keys, full } }
}
