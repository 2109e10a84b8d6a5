import type { Probe } from './exchange.ts'
import { pathOf } from './exchange.ts'

/**
 * The text of a response without what differs from one to the next though it is the same response: the path and the method of
 * the request, times, ids of traces. For comparing only.
 */
export function withoutEchoes(text: string, probe: Probe): string {
  const plain = text.replaceAll(String.raw`\/`, '/')
  const [path = ''] = pathOf(probe, {}).split('?')
  return [pathOf(probe, {}), path, decoded(path)]
    .reduce((rest, echo) => rest.replaceAll(echo, '…'), plain)
    .replaceAll(new RegExp(String.raw`\b${probe.method}\b`, 'g'), '…')
    .replaceAll(/[\w:.-]*\d[\w:.-]*/g, (word) => (word.length < shortestId ? word : '…'))
}

/** Shorter words with digits are statuses, versions and the like. */
const shortestId = 8

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Whether a sentence of the response names the path of the request; a member that is the path, as some frameworks always add, is none. */
export function namesPath(text: string, probe: Probe): boolean {
  const [path = ''] = pathOf(probe, {}).split('?')
  const plain = text.replaceAll(String.raw`\/`, '/')
  return [path, decoded(path)].some((echo) =>
    plain.replaceAll(new RegExp(`"${escaped(echo)}(?:\\?[^"]*)?"`, 'g'), '').includes(echo),
  )
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
