import { inProcessUrl, printed } from '../recording/index.ts'
import { UserError } from '../user-error.ts'
import { unreachableIds, unreachableProblems, withEveryOperation } from './declared.ts'
import { baseUrlProblem, normalBaseUrl } from './http-values.ts'
import { type Context, type Environment, labels, placed } from './keys.ts'
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

/** Reads everything that a checked target file refers to; throws a `UserError` if something is not there. */
export async function resolveTarget(
  { fetch, ...file }: TargetFile,
  options: ResolveOptions,
): Promise<Resolved> {
  // A base URL that somebody gives wins over what the file names.
  const handler = options.baseUrl === undefined ? fetch : undefined
  const baseUrl = handler ? inProcessUrl : usedBaseUrl(options.baseUrl ?? file.baseUrl)
  const { dir, source, env } = options
  const context: Context = { dir, source, env, baseUrl, ...emptyNotes() }
  const parts = partsOf(context, file, options)
  for (const ask of context.asked) await ask()
  const shown = shownFile(file, parts.keys.full?.label)
  const leaves = leavesOf(shown).filter(([, leaf]) => leaf !== '')
  const texts = leaves.map(([, leaf]) => String(leaf))
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
  const slips = leaves.flatMap(([pointer, leaf]) =>
    typeof leaf === 'string' ? unknownNames(file, pointer, leaf).warnings : [],
  )
  const warnings = [...context.warnings, ...slips.map((warning) => placed(context, warning))]
  return { target, handler, warnings }
}

function usedBaseUrl(text: string | undefined): string {
  if (text === undefined)
    throw new UserError(
      'no base URL: give one on the command line or as baseUrl in the target file',
    )
  const problem = baseUrlProblem(text)
  if (problem !== undefined) throw new UserError(`the base URL ${problem}`)
  return normalBaseUrl(text)
}

/** Finds what the schema cannot say, each in one sentence; nothing that the file refers to is read. */
export function problemsOf(file: TargetFile): string[] {
  const problems: string[] = []
  const { baseUrl } = file
  const problem = baseUrl === undefined ? undefined : baseUrlProblem(baseUrl)
  if (problem !== undefined) problems.push(`baseUrl ${problem}`)
  const base = baseUrl === undefined || problem !== undefined ? inProcessUrl : baseUrl
  const context = { dir: '', env: {}, baseUrl: normalBaseUrl(base), problems, ...emptyNotes() }
  partsOf(context, file)
  for (const [pointer, leaf] of leavesOf(file)) {
    if (typeof leaf !== 'string') continue
    problems.push(...unknownNames(file, pointer, leaf).problems)
    const unfilled = unfilledProblem(pointer, leaf)
    if (unfilled !== undefined) problems.push(unfilled)
  }
  return [...problems, ...unreachableProblems(file)]
}

const emptyNotes = (): Pick<Context, 'secrets' | 'hidden' | 'warnings' | 'asked'> => ({
  ...{ secrets: [], hidden: [], warnings: [], asked: [] },
})

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
