import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type InputFiles } from '../../library/output.ts'
import { Unjudgeable } from '../../harness/user-error.ts'
import { orLost } from '../guard.ts'
import {
  type TargetFile,
  leavesOf,
  loadTargetFile,
  resolveTarget,
} from '../../harness/target/index.ts'
import { isEmbedded, type RunArguments } from './arguments.ts'
import { referenceTargetFile } from '../../schemas/validate.ts'
import { type Embedded, startEmbedded } from './embedded.ts'
import type { Worker } from 'node:worker_threads'

export interface FoundTarget extends Awaited<ReturnType<typeof resolveTarget>> {
  /** The target file, and the files that it names. */
  inputs(): InputFiles
  /** Of the embedded reference. */
  readonly worker?: Worker | undefined
  /** Why the target cannot be judged: the code of its file never finished. */
  readonly problem?: string
}

/**
 * Finds the target: a target file, a URL, both, or (with neither) the embedded reference server.
 * @param starting that server, if it was started before
 */
export async function findTarget(
  baseUrl: string | undefined,
  options: RunArguments,
  starting?: Promise<Embedded>,
): Promise<FoundTarget> {
  const embedded = isEmbedded(baseUrl, options)
  const { concurrency, header: headers, key, rate, target: source, timeout } = options
  const given = { 'the target file': source }
  let file: TargetFile = {}
  let server: Embedded | undefined
  try {
    const loaded = await orLost(loadTargetFile(embedded ? referenceTargetFile : source))
    file = loaded.file
    const { dir } = loaded
    if (embedded && !options.dryRun) server = await (starting ?? startEmbedded())
    const url = server?.url ?? (embedded ? 'http://127.0.0.1' : baseUrl)
    const limits = { concurrency, requestsPerSecond: rate, timeoutMs: timeout }
    const changes = { dir, source, env: process.env, baseUrl: url, headers, key, limits }
    const resolved = await orLost(resolveTarget(file, changes))
    const inputs = () => ({ ...given, ...filesNamedIn(file, dir) })
    return { ...resolved, inputs, worker: server?.worker }
  } catch (error) {
    if (!(error instanceof Unjudgeable) || options.dryRun) throw error
    // What a report needs to know of the target.
    const known = baseUrl ?? file.baseUrl ?? 'http://unknown.invalid'
    const named = { name: file.name ?? source ?? known }
    const resolved = await resolveTarget(named, { dir: process.cwd(), env: {}, baseUrl: known })
    return { ...resolved, inputs: () => given, problem: error.message }
  }
}

/** The files that a target file names: keys, certificates, uploads, key programs. */
export function filesNamedIn(file: unknown, dir: string): InputFiles {
  const named = leavesOf(file).flatMap((leaf) => {
    const path = resolve(dir, leaf.text)
    const isFile = existsSync(path) && statSync(path).isFile()
    return isFile ? [[`${leaf.text}, which the target file names`, path] as const] : []
  })
  return Object.fromEntries(named)
}
