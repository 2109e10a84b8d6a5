import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { RunOptions } from '../../harness/client/state.ts'
import { needsSocket, variants } from '../../reference/server.ts'
import { fitting } from './changed-targets.ts'
import {
  idsOf,
  type Judged,
  judgeReference,
  type JudgeSettings,
  reasons,
} from './judge-reference.ts'
import { refusedByDocument } from '../openapi/fits.ts'
import { unexercised } from './unexercised.ts'

/** Variants of one family speak of the same thing: a server has one of them at most. */
export const familyOf = (variant: string): string => variant.split(/[/-]/)[0]!

/** These take longest. */
export const large: readonly string[] = ['answers/large', 'answers/huge']

/** These ways in as few servers as can be. */
function cohorts(some: readonly string[]): string[][] {
  const hash = (name: string): string => createHash('sha256').update(`first ${name}`).digest('hex')
  const mixed = some.toSorted((one, other) => (hash(one) < hash(other) ? -1 : 1))
  const groups: string[][] = []
  for (const family of new Set(mixed.map(familyOf))) {
    // Each member to another server, those with the fewest first.
    groups.sort((one, other) => one.length - other.length)
    for (const [at, variant] of mixed.filter((each) => familyOf(each) === family).entries())
      (groups[at] ??= []).push(variant)
  }
  return groups
}

/** The ways that need no socket, and those that show on one alone. */
export const inProcess = cohorts(variants.filter((variant) => !needsSocket(variant)))
export const onSockets = cohorts(variants.filter(needsSocket))

type Depth = RunOptions['depth']

const pace = { jobMs: 15, slowJobMs: 300 }
/** In real time, and where each request opens a connection, a job must outlast several of them beside other runs. */
const slowPace = { jobMs: 5000, slowJobMs: 6000 }

/** A run and the answers in it that the OpenAPI document does not allow. */
export interface JudgedAnswers extends Judged {
  readonly refused: ReadonlySet<string>
}

/** Judges the reference with these ways on, and holds every answer against the OpenAPI document. */
export async function judgeConforming(
  on: readonly string[],
  settings: JudgeSettings,
): Promise<JudgedAnswers> {
  const refused = new Set<string>()
  const observe: JudgeSettings['observe'] = (exchange, run) => {
    const what = refusedByDocument(exchange, on)
    if (what !== undefined) refused.add(what)
    settings.observe?.(exchange, run)
  }
  const reference = { variants: on, ...(on.includes('connection/closed') ? slowPace : pace) }
  return Object.assign(
    await judgeReference(reference, { ...settings, change: fitting(on), observe }),
    {
      refused,
    },
  )
}

/** `quick` is enough for what has no say in which cases are sent. */
export async function expectConforming(
  on: readonly string[],
  depth: Depth = 'full',
): Promise<void> {
  expectNothingFailed(on, await judgeConforming(on, { options: { depth } }))
}

/** Nothing failed, not exercised is what the table lists, and the OpenAPI document allows every answer. */
export function expectNothingFailed(
  on: readonly string[],
  { results, refused }: JudgedAnswers,
): void {
  expect([...refused], `with ${on.join(', ')}`).toEqual([])
  const listed = new Set(on.flatMap((variant) => unexercised[variant] ?? []))
  const told = `with ${on.join(', ')}\n${reasons(results)}`
  expect(idsOf(results, 'failed'), told).toEqual([])
  // Where connections close unannounced, a burst or the second of two in a row may lose its answer: that is a matter of time. So
  // may a model that fails, or a guardrail, meet what is sent only once.
  const isMet = /closed-unannounced|(model-fails|provider-blocked)-now-and-then/.test(on.join(' '))
  // A full run sends the charset to additions as well, which need a fresh file; a quick one to one operation.
  const isFew = on.includes('successes/no-content-creations')
  const mayBeUnseen = (id: string): boolean =>
    (isMet &&
      /atomic$|(409-per-application|409-job-in-progress|2xx-own-id|4xx-no-effect|400-duplicate-name)$/.test(
        id,
      )) ||
    (isFew && id === 'envelope/charset-parameter')
  const unseen = idsOf(results, 'not-exercised').filter((id) => listed.has(id) || !mayBeUnseen(id))
  expect(new Set(unseen), told).toEqual(listed)
}
