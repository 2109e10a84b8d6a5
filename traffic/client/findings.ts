import { type Redactor, shownText } from '../../harness/recording/index.ts'
import { type ClientFault, type ClientFinding, nameOf } from './finding.ts'
import type { Call } from './retries.ts'

/** Most findings that are told apart: a client may be wrong in other words each time. */
const mostTold = 1000

/** Keeps what was found: each is told once, without keys, and counted. */
export function createFindings(redactor: Redactor, onFinding?: (finding: ClientFinding) => void) {
  const findings = new Map<string, ClientFinding>()
  return {
    all: (): ClientFinding[] => [...findings.values()],
    note(kind: ClientFinding['kind'], call: Call, fault: ClientFault): void {
      const { method, n: request, operation, path } = call
      const found = { kind, request, operation, method, path, fault }
      const name = nameOf(found)
      const known = findings.get(name)
      if (known) return void known.count++
      if (findings.size === mostTold) return
      const finding = shown({ ...found, count: 1 }, redactor)
      findings.set(name, finding)
      onFinding?.(finding)
    },
  }
}

/** Cuts what a client sent; it may hold a key. */
function shown(finding: ClientFinding, redactor: Redactor): ClientFinding {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string')
      return shownText(value.slice(0, 300), (text) => redactor.text(text))
    if (Array.isArray(value)) return value.slice(0, 3).map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, 20)
        .map(([name, one]) => [redactor.text(name), clean(one)]),
    )
  }
  return { ...(clean(finding) as ClientFinding), count: finding.count }
}
