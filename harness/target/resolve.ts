import { inProcessUrl, printed } from '../recording/index.ts'
import { UserError } from '../user-error.ts'
import { baseUrlProblem, refuseAll } from './check.ts'
import { unreachableIds, unreachableProblems, withEveryOperation } from './declared.ts'
import { normalBaseUrl } from './http-values.ts'
import { type Environment, labels } from './keys.ts'
import { applicationNames, defaultLimits, type Target } from './model.ts'
import { leavesOf, plainFile, targetDigest, unknownNames } from './places.ts'
import { compact, type Given, Reader } from './reader.ts'
import type { FetchHandler, Limits, TargetFile } from './target-file.ts'

export interface ResolveOptions extends Given {
  readonly dir: string
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

/** Reads everything that a valid target file refers to; throws a `UserError` that names everything wrong or missing. */
export async function resolveTarget(
  { fetch, ...file }: TargetFile,
  options: ResolveOptions,
): Promise<Resolved> {
  const handler = options.baseUrl === undefined ? fetch : undefined
  const baseUrl = usedBaseUrl(file, handler ? inProcessUrl : options.baseUrl)
  const { dir, source, env } = options
  const reader = new Reader({ dir, source, env, baseUrl })
  const parts = reader.parts(file, options)
  const unknown = leavesOf(file).flatMap(([pointer, leaf]) =>
    unknownNames(file, pointer, String(leaf)),
  )
  for (const sentence of [...unknown, ...unreachableProblems(file)]) reader.refuse(sentence)
  refuseAll(reader.problems)
  for (const ask of reader.asked) await ask()
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
    secrets: [...reader.secrets, ...reader.hidden.filter((one) => !isKept(one.value))],
    kept,
  }
  for (const text of kept) printed.keep(text)
  for (const { value, label } of target.secrets) printed.add(value, label)
  return { target, handler, warnings: reader.warnings }
}

function usedBaseUrl(file: TargetFile, given: string | undefined): string {
  const text = given ?? file.baseUrl
  if (text === undefined)
    throw new UserError(
      'no base URL: give one on the command line or as baseUrl in the target file',
    )
  const problem = baseUrlProblem(text)
  if (problem !== undefined) throw new UserError(`the base URL ${problem}`)
  return normalBaseUrl(text)
}

function shownFile(file: TargetFile, full: string | undefined): TargetFile {
  const shown = plainFile(withEveryOperation(file), (value, path) => {
    if (typeof value === 'object' && 'env' in value) return `$${value.env}`
    const [, name] = /^keys\.(expired|restricted)/.exec(path) ?? []
    return labels[(name as 'expired' | 'restricted' | undefined) ?? 'other']
  }) as TargetFile
  return full === undefined ? shown : { ...shown, keys: { ...shown.keys, full } }
}
