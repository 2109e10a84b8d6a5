import { inject } from 'vitest'
import { startReference } from '../library/reference.ts'
import type { ConformanceOptions } from '../library/options.ts'
import type { RunRequest } from '../library/start-run.ts'
import type { Target, TargetJson } from '../library/target.ts'

/** What is judged, and how. */
export interface Found extends RunRequest {
  /** Ends the embedded reference, if that is the target. */
  close(): Promise<void>
}

const nothing = async (): Promise<void> => undefined

/**
 * The target that was given, else the one that the vitest project provides as `conformTarget`, else `CONFORM_TARGET` (a file)
 * and `CONFORM_BASE_URL`, else the embedded reference server. Vite sets `BASE_URL` in tests: no name of ours.
 */
export async function findTarget(
  given: Target | TargetJson | string | undefined,
  options: ConformanceOptions,
): Promise<Found> {
  const target = given ?? inject('conformTarget')
  if (target !== undefined) return { target, options, close: nothing }
  const { CONFORM_TARGET: file, CONFORM_BASE_URL: url } = process.env
  const baseUrl = options.baseUrl ?? (url === '' ? undefined : url)
  if (file !== undefined && file !== '') return { target: file, options: withUrl(options, baseUrl), close: nothing }
  if (baseUrl !== undefined) return { target: {}, options: withUrl(options, baseUrl), close: nothing }
  const reference = await startReference()
  // `conform` without a target judges the embedded reference too.
  return { target: reference.target, options, rerun: 'conform', close: () => reference.close() }
}

function withUrl(options: ConformanceOptions, baseUrl: string | undefined): ConformanceOptions {
  return baseUrl === undefined ? options : { ...options, baseUrl }
}
