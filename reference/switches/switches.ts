import { AsyncLocalStorage } from 'node:async_hooks'
import { alternatives } from './pairs.ts'
import { defects } from './defects.ts'
import { variants } from './variants.ts'
import type { Pair } from '../declared/scenarios.ts'

/** Which defects and variants a server has. All are off in the conforming reference. */
export interface Switches {
  /** The defect of that name is on: the server breaks that requirement. */
  readonly broken: (defect: string) => boolean
  /** Some defect or variant is on whose name begins so: what asks for many of them by name asks this first. */
  readonly hasSome: (beginning: string) => boolean
  /** The variant of that name is on: the server behaves in another way that conforms as well. */
  readonly varied: (variant: string) => boolean
  /** The pair that a variant `<id>=<status>-<tpe>` puts in place of the usual refusal. */
  readonly alternative: (id: string) => Pair | undefined
}

const known = { defect: new Set(defects), variant: new Set(variants) }

function checked(kind: 'defect' | 'variant', names: Iterable<string>): ReadonlySet<string> {
  const chosen = new Set(names)
  for (const name of chosen) if (!known[kind].has(name)) throw new Error(`the reference has no ${kind} "${name}"`)
  return chosen
}

/** Defects that were asked for and are on, while one request is answered. */
const asked = new AsyncLocalStorage<Set<string>>()

/** Names the defects that had a say in an answer: those that are on and were asked for while the request was under way. */
export const stampHeader = 'x-reference-defects'

/** Answers a request, and stamps the response with the defects that had a say in it. */
export async function stamped(answer: () => Promise<Response>): Promise<Response> {
  const names = new Set<string>()
  const response = await asked.run(names, answer)
  if (names.size > 0) response.headers.set(stampHeader, [...names].join(', '))
  return response
}

/** @throws Error on a name that does not exist. */
export function createSwitches(defectNames: Iterable<string>, variantNames: Iterable<string>): Switches {
  const broken = checked('defect', defectNames)
  const varied = checked('variant', variantNames)
  const on = [...broken, ...varied]
  const beginnings = new Map<string, boolean>()
  const pairs = new Map<string, Pair>()
  for (const alternative of alternatives) if (varied.has(alternative.name)) pairs.set(alternative.id, alternative)
  return {
    broken: (defect) => {
      const isOn = broken.has(defect)
      if (isOn) asked.getStore()?.add(defect)
      return isOn
    },
    hasSome: (beginning) => {
      const known = beginnings.get(beginning) ?? on.some((name) => name.startsWith(beginning))
      beginnings.set(beginning, known)
      return known
    },
    varied: (variant) => varied.has(variant),
    alternative: (id) => pairs.get(id) ?? pairs.get(`*/${id.slice(id.indexOf('/') + 1)}`),
  }
}

/** Defects that put something else than HTTP on the connection, or end it. */
const ofConnections = /#(?:closed|dropped|no-http|spoils-connection)$/

/**
 * Whether a defect or variant shows on a socket alone, so that `createReference` cannot have it: what happens to
 * connections, and encodings that clients ask for and undo below HTTP. Silence in place of an answer needs none.
 */
export function needsSocket(name: string): boolean {
  return name.startsWith('connection/') || name.startsWith('compressed/') || ofConnections.test(name)
}
